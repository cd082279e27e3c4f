import { z } from "zod";
import { Template } from "@/server/domain/base/values";
import { SECRET_NAME, secretText } from "./secret";

/** Names of secrets, as workflows write them. */
export const SecretName = z
  .string()
  .regex(SECRET_NAME, "Use letters, digits, _ and - and start with a letter (at most 64)");

/** A template that may contain references to secrets; a reference on its own is kept as its text. */
export const SecretTemplate = z.union([
  Template,
  z.strictObject({ $secret: SecretName }).transform(({ $secret }) => secretText($secret)),
]);

/** `SecretUse` in a worker's call to the server. */
export const SecretUse = z.object({
  at: z.array(z.string().max(1_000)).min(1).max(100),
  names: z.array(SecretName).min(1),
});

/** Shorter values look like ordinary words and couldn't be redacted. */
export const SecretValue = z
  .string()
  .trim()
  .min(8, "Enter at least 8 characters; shorter values can't be redacted")
  .max(20_000);

/** A host that a secret may be sent to: a name, an IP address, or `*.` and at least two labels; normalized as in URLs. */
export const SecretHost = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .transform((host, context) => {
    const name = host.startsWith("*.") ? host.slice(2) : host;
    const isPlain = /^[^\s/?#@:*[\]]+$/.test(name) || /^\[[0-9a-f:.]+\]$/.test(name);
    if (isPlain && URL.canParse(`http://${name}`) && (name === host || /[^.]\.[^.]/.test(name))) {
      const { hostname } = new URL(`http://${name}`);
      return name === host ? hostname : `*.${hostname}`;
    }
    context.addIssue({ code: "custom", message: "Enter a host such as api.example.com or *.example.com." });
    return z.NEVER;
  });

export const SecretHosts = z.array(SecretHost).min(1, "Enter at least one host").max(50);
