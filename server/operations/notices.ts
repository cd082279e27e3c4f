import { z } from "zod";
import { MAIL_SECURITY } from "@/server/store/notice-settings";
import { NOTICE_CHANNELS } from "@/server/store/notices";
import { operationsOf } from "./operation";
import { Problem } from "./problem";
import { NoticesShown } from "./settings-schemas";

const { mutation, query } = operationsOf("Server");

const Channel = z.object({ channel: z.enum(NOTICE_CHANNELS) });
const Address = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+$/u, "Enter e-mail addresses such as team@example.org");
const WHERE = "it says where this server connects to, and who is told";

/** An address that notices are posted to; it may hold a key in its path or query. */
const WebhookUrl = z
  .string()
  .trim()
  .max(2000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "Enter an address that begins with https:// or http://",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).password === ""),
    "Enter the address without a name and a password in it",
  );

const Email = z
  .object({
    is_on: z.boolean(),
    host: z
      .string()
      .trim()
      .min(1, "Enter the mail server")
      .max(255)
      .regex(/^[A-Za-z0-9.:-]+$/, "Enter a host such as mail.example.org"),
    port: z.number().int().min(1).max(65_535),
    security: z.enum(MAIL_SECURITY),
    user: z.string().trim().max(200),
    /** Left out: keeps the stored one, unless the server or the name changes. Null: removes it. */
    password: z.string().min(1).max(1000).nullish(),
    from: Address,
    to: z.array(Address).min(1, "Enter who gets the mails").max(20),
  })
  .refine(({ security, password }) => security !== "none" || !password, {
    path: ["password"],
    message: "A password is not sent over a connection that is not protected",
  });

/** How people are notified outside of the app that a question waits. Secrets are write-only. */
export const noticeOperations = {
  get: query({
    name: "getNotices",
    summary: "Where notices of questions go, and what did not arrive",
    needs: "read",
    input: z.void(),
    output: NoticesShown,
    http: { route: "GET /notices", success: "Without addresses of webhooks and passwords" },
    run: ({ noticeSettings, notices }) => ({ ...noticeSettings.find(), troubles: notices.undelivered() }),
  }),

  saveWebhook: mutation({
    name: "saveNoticeWebhook",
    summary: "Sets the webhook that notices are posted to",
    needs: "admin",
    input: z.object({ is_on: z.boolean(), url: WebhookUrl.optional() }),
    problems: ["not_found"],
    audits: ["notices_changed"],
    http: { personOnly: WHERE },
    run({ noticeSettings, notices }, input, { note }) {
      if (input.url === undefined && !noticeSettings.find().webhook)
        throw new Problem("not_found", "Enter the address of the webhook first.");
      const saved = noticeSettings.saveWebhook(input);
      if (!input.is_on) notices.drop("webhook");
      note("notices_changed", {
        channel: "webhook",
        host: noticeSettings.find().webhook?.host ?? "",
        is_enabled: input.is_on,
      });
      return saved;
    },
  }),

  saveEmail: mutation({
    name: "saveNoticeEmail",
    summary: "Sets the mail server that notices go through, and to whom",
    needs: "admin",
    input: Email,
    audits: ["notices_changed"],
    http: { personOnly: WHERE },
    run({ noticeSettings, notices }, input, { note }) {
      noticeSettings.saveEmail(input);
      if (!input.is_on) notices.drop("email");
      note("notices_changed", {
        channel: "email",
        host: `${input.host}:${input.port}`,
        is_enabled: input.is_on,
      });
    },
  }),

  remove: mutation({
    name: "removeNotices",
    summary: "Forgets a webhook or a mail server",
    about: "What waits to be sent there is not sent any more.",
    needs: "admin",
    input: Channel,
    audits: ["notices_removed"],
    problems: [],
    http: { route: "DELETE /notices/{channel}", success: "It is forgotten" },
    run({ noticeSettings, notices }, { channel }, { note }) {
      noticeSettings.remove(channel);
      notices.drop(channel);
      note("notices_removed", { channel });
    },
  }),

  test: mutation({
    name: "testNotices",
    summary: "Sends a test notice, and says what happened",
    needs: "admin",
    input: Channel,
    http: { personOnly: "it sends something to people" },
    run: ({ notifier }, { channel }) => notifier.test(channel),
  }),
};
