import { z } from "zod";

/** How the connection to a mail server is protected. none: not at all, so no password goes over it. */
export const MAIL_SECURITY = ["tls", "starttls", "none"] as const;

/** A URL that notifications are posted to; it may hold a key in its path or query. */
export const WebhookUrl = z
  .string()
  .trim()
  .max(2000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "Enter a URL that starts with https:// or http://",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).password === ""),
    "Enter the URL without a user name and password",
  );

const EmailAddress = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+$/u, "Enter an email address such as team@example.org");

/** A mail server with the sender and recipients of notifications, as it is saved. */
export const EmailSettings = z
  .object({
    is_on: z.boolean(),
    host: z
      .string()
      .trim()
      .min(1, "Enter the mail server")
      .max(255)
      .regex(/^[A-Za-z0-9.:-]+$/, "Enter a host such as mail.example.org"),
    port: z.number("Enter a port").int().min(1).max(65_535),
    security: z.enum(MAIL_SECURITY),
    user: z.string().trim().max(200),
    /** Left out: keeps the stored one, unless the server or the user changes. Null: removes it. */
    password: z.string().min(1).max(1000).nullish(),
    from: EmailAddress,
    to: z.array(EmailAddress).min(1, "Enter at least one recipient").max(20),
  })
  .refine(({ security, password }) => security !== "none" || !password, {
    path: ["password"],
    message: "Use TLS or STARTTLS to send a password",
  });
