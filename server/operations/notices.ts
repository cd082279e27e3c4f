import { z } from "zod";
import { EmailSettings, WebhookUrl } from "@/server/domain/base/notification-targets";
import { Rejection } from "@/server/domain/errors/rejection";
import { NOTICE_CHANNELS } from "@/server/store/notices";
import { operationsOf } from "./operation";
import { NoticesShown } from "./settings-schemas";

const { mutation, query } = operationsOf("Server");

const Channel = z.object({ channel: z.enum(NOTICE_CHANNELS) });
const WHERE = "it determines where this server connects and who is notified";

/** How people are notified outside of the app that a question waits. Secrets are write-only. */
export const noticeOperations = {
  get: query({
    name: "getNotices",
    summary: "Get notification settings and undelivered notifications",
    needs: "read",
    input: z.void(),
    output: NoticesShown,
    http: { route: "GET /notices", success: "The settings, without webhook URLs and passwords" },
    run: ({ noticeSettings, notices }) => ({ ...noticeSettings.find(), troubles: notices.undelivered() }),
  }),

  saveWebhook: mutation({
    name: "saveNoticeWebhook",
    summary: "Set the notification webhook",
    needs: "admin",
    input: z.object({ is_on: z.boolean(), url: WebhookUrl.optional() }),
    problems: ["not_found"],
    audits: ["notices_changed"],
    http: { personOnly: WHERE },
    run({ noticeSettings, notices }, input, { note }) {
      if (input.url === undefined && !noticeSettings.find().webhook)
        throw new Rejection("not_found", "Enter the webhook URL first.");
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
    summary: "Set the mail server and recipients for notifications",
    needs: "admin",
    input: EmailSettings,
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
    summary: "Remove a notification channel",
    about: "Notifications waiting for this channel are discarded.",
    needs: "admin",
    input: Channel,
    audits: ["notices_removed"],
    problems: [],
    http: { route: "DELETE /notices/{channel}", success: "Deleted" },
    run({ noticeSettings, notices }, { channel }, { note }) {
      noticeSettings.remove(channel);
      notices.drop(channel);
      note("notices_removed", { channel });
    },
  }),

  test: mutation({
    name: "testNotices",
    summary: "Send a test notification and return the result",
    needs: "admin",
    input: Channel,
    http: { personOnly: "it sends a message to people" },
    run: ({ notifier }, { channel }) => notifier.test(channel),
  }),
};
