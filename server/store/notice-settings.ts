import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Db } from "@/db/open";
import { MAIL_SECURITY } from "@/server/domain/base/notification-targets";
import type { Sealer } from "@/server/secrets/sealer";
import { NOTICE_SETTINGS, type NoticeChannel } from "./notices";
import { ownJson } from "./own-json";
import { newSettingStore } from "./settings";

/** Where webhooks are sent. The URL may contain a key, so it is sealed as a whole. */
export interface WebhookTarget {
  url: string;
  /** What notices are signed with. */
  secret: string;
}

const MailServer = z.object({
  is_on: z.boolean(),
  host: z.string(),
  port: z.number().int(),
  security: z.enum(MAIL_SECURITY),
  user: z.string(),
  from: z.string(),
  to: z.array(z.string()),
});
/** A mail server, and who gets mail. */
export type MailServer = z.infer<typeof MailServer>;
export type MailTarget = MailServer & { password: string | null };

const Stored = z.object({
  webhook: z
    .object({ is_on: z.boolean(), host: z.string(), sealed_url: z.string(), sealed_secret: z.string() })
    .nullable(),
  email: MailServer.extend({ sealed_password: z.string().nullable() }).nullable(),
});
type Stored = z.infer<typeof Stored>;

/** What screens and programs see of it. */
export interface NoticeSettings {
  webhook: { is_on: boolean; host: string } | null;
  email: (MailServer & { has_password: boolean }) | null;
}

export type NoticeSettingStore = ReturnType<typeof newNoticeSettingStore>;

const URL_BINDING = "notices:webhook:url";
const SECRET_BINDING = "notices:webhook:secret";
/** A password goes to the server that it was entered for, and nowhere else. */
const passwordBinding = ({ host, port, user }: MailServer) =>
  `notices:email:password:${host}:${port}:${user}`;

/** Where notices go: one row of the settings, its secrets sealed. */
export function newNoticeSettingStore(db: Db, sealer: Sealer) {
  const settings = newSettingStore(db);
  const read = (): Stored => {
    const text = settings.find(NOTICE_SETTINGS);
    return text === undefined ? { webhook: null, email: null } : Stored.parse(ownJson(text));
  };
  const write = (change: Partial<Stored>) =>
    settings.set(NOTICE_SETTINGS, JSON.stringify({ ...read(), ...change } satisfies Stored));

  return {
    find(): NoticeSettings {
      const { webhook, email } = read();
      return {
        webhook: webhook && { is_on: webhook.is_on, host: webhook.host },
        email: email && { ...MailServer.parse(email), has_password: email.sealed_password !== null },
      };
    },

    /** `url` left out keeps the address. Answers the secret that notices are signed with, where a new one was made. */
    saveWebhook({ is_on, url }: { is_on: boolean; url?: string | undefined }): {
      signing_secret: string | null;
    } {
      const { webhook } = read();
      if (url === undefined) {
        if (webhook) write({ webhook: { ...webhook, is_on } });
        return { signing_secret: null };
      }
      const secret = randomBytes(32).toString("base64url");
      write({
        webhook: {
          is_on,
          host: new URL(url).host,
          sealed_url: sealer.seal(url, URL_BINDING),
          sealed_secret: sealer.seal(secret, SECRET_BINDING),
        },
      });
      return { signing_secret: secret };
    },

    /** `password` left out keeps it, unless the server or the name there changes; null removes it. */
    saveEmail({ password, ...server }: MailServer & { password?: string | null | undefined }): void {
      const { email } = read();
      const isSame = email !== null && passwordBinding(email) === passwordBinding(server);
      const kept = isSame ? email.sealed_password : null;
      const sealed_password =
        password === undefined
          ? kept
          : password === null
            ? null
            : sealer.seal(password, passwordBinding(server));
      write({ email: { ...server, sealed_password } });
    },

    remove: (channel: NoticeChannel): void => write({ [channel]: null }),

    /** With its secrets opened; null if none is set. Throws where they cannot be opened. */
    webhook(): WebhookTarget | null {
      const { webhook } = read();
      return (
        webhook && {
          url: sealer.open(webhook.sealed_url, URL_BINDING),
          secret: sealer.open(webhook.sealed_secret, SECRET_BINDING),
        }
      );
    },
    email(): MailTarget | null {
      const { email } = read();
      if (!email) return null;
      const { sealed_password, ...server } = email;
      return {
        ...server,
        password: sealed_password === null ? null : sealer.open(sealed_password, passwordBinding(email)),
      };
    },
  };
}
