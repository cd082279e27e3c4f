import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import { URGENCIES } from "@/server/domain/run/questions/open-questions";
import type { MailDial } from "@/server/egress/notices";
import type { NoticeSettingStore } from "@/server/store/notice-settings";
import {
  NOTICE_CHANNELS,
  type NoticeChannel,
  type NoticeDue,
  type NoticeStore,
} from "@/server/store/notices";
import { deliveryErrorText } from "./delivery-errors";
import { mailNotice } from "./email";
import { type Notice, noticeOf, testNotice } from "./notice-text";
import { postNotice } from "./webhook";

/** How long to wait after each failed attempt; after the last one the notice is given up. */
export const RETRY_AFTER_MS = [30_000, 2 * 60_000, 10 * 60_000, 3_600_000, 6 * 3_600_000] as const;
/** Timeout of the last attempt: after that it stays unknown whether it arrived. */
const LAST_WAIT_MS = 60_000;
const UNSURE =
  "The server stopped during the last attempt, so it is unknown whether the notification was delivered.";
/** How many go out at a time. */
const SLICE = 20;
/** After the database was in the way. */
const RETRY_MS = 30_000;
const TIDY_MS = 3_600_000;

export interface NotifierOptions {
  store: NoticeStore;
  settings: Pick<NoticeSettingStore, "webhook" | "email">;
  fetch: typeof globalThis.fetch;
  dial: MailDial;
  /** Certificates in PEM of mail servers that are trusted in place of those of the system. */
  trusted?: string;
  /** Where people open Troupe, without a slash at its end. */
  origin: () => string;
  /** Takes secrets out of a text. */
  hide: (text: string) => string;
  now?: () => number;
  log?: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
}

/** Sends what the outbox holds, again and again until it arrives or is given up. No run ever waits for it. */
export class Notifier {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private tidying: ReturnType<typeof setInterval> | null = null;
  private sending: Promise<void> | null = null;
  private isStopped = false;

  constructor(private readonly options: NotifierOptions) {}

  /** Begins to send, also what an earlier process left. */
  start(): void {
    this.tidying = setInterval(() => this.attempt(() => this.options.store.tidy()), TIDY_MS);
    this.tidying.unref();
    this.wake();
  }

  /** Sends no more; resolves when running deliveries are done. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    if (this.tidying) clearInterval(this.tidying);
    await this.sending;
  }

  /** There may be something new. */
  wake(): void {
    if (this.isStopped) return;
    if (this.timer) clearTimeout(this.timer);
    const at = this.attempt(() => this.options.store.nextAt());
    if (at === null) return;
    const wait = at === undefined ? RETRY_MS : Math.min(Math.max(at - this.now, 50), 2 ** 31 - 1);
    this.timer = setTimeout(() => void this.sendDue(), wait);
    this.timer.unref();
  }

  /** Sends what is due, each channel one notice after another. */
  async sendDue(): Promise<void> {
    this.sending ??= this.sendSlice().finally(() => {
      this.sending = null;
      this.wake();
    });
    await this.sending;
  }

  /** Sends a test notification; returns what happened, as text. */
  async test(channel: NoticeChannel): Promise<{ ok: boolean; message: string }> {
    try {
      await this.deliver(channel, testNotice(this.options.origin()), { cause: "test" });
      return {
        ok: true,
        message:
          channel === "webhook"
            ? "The receiver accepted the test notification."
            : "The mail server accepted the test email. Check that it arrives.",
      };
    } catch (error) {
      return { ok: false, message: deliveryErrorText(error, this.options.hide) };
    }
  }

  private get now(): number {
    return (this.options.now ?? Date.now)();
  }

  private async sendSlice(): Promise<void> {
    const due = this.attempt(() => this.options.store.due(SLICE)) ?? [];
    await Promise.all(
      NOTICE_CHANNELS.map(async (channel) => {
        for (const one of due) if (one.channel === channel && !this.isStopped) await this.send(one);
      }),
    );
  }

  private async send(due: NoticeDue): Promise<void> {
    const { store, origin, hide } = this.options;
    const after = RETRY_AFTER_MS[due.attempts];
    if (due.attempts > RETRY_AFTER_MS.length) {
      this.attempt(() => store.failed(due.id, UNSURE, null));
      return;
    }
    // Noted before it is sent: whatever happens in between, it is not sent again sooner, nor more often, than the rule says.
    const isNoted = this.attempt(() => store.begin(due.id, this.now + (after ?? LAST_WAIT_MS)));
    if (!isNoted) return;
    try {
      await this.deliver(due.channel, noticeOf(due, origin(), this.now), aboutOf(due));
      this.attempt(() => store.sent(due.id));
    } catch (error) {
      const errorText = deliveryErrorText(error, hide);
      this.attempt(() => store.failed(due.id, errorText, after === undefined ? null : this.now + after));
      this.options.log?.("warn", "A notification was not delivered.", {
        channel: due.channel,
        fault: errorText,
      });
    }
  }

  private async deliver(channel: NoticeChannel, notice: Notice, about: JsonObject): Promise<void> {
    const { settings, fetch, dial, trusted } = this.options;
    const way = { dial, ...defined({ trusted }) };
    const { id: nth, run_id } = about;
    const id = typeof nth === "string" && typeof run_id === "string" ? { id: `${nth}.${run_id}` } : {};
    const [webhook, email] = channel === "webhook" ? [settings.webhook(), null] : [null, settings.email()];
    if (webhook) return postNotice(fetch, webhook, { ...about, ...notice }, this.now);
    if (email) return mailNotice(way, email, { ...notice, ...id });
    throw new Error("No notification channel is configured.");
  }

  /** undefined where the database was in the way: what waits is sent later. */
  private attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.options.log?.("warn", "The notification outbox could not be read or written.", {
        error: String(error),
      });
      return undefined;
    }
  }
}

/** The data for programs next to the text: where the question is, not what it asks. */
const aboutOf = ({
  id,
  cause,
  run_id,
  workflow_id,
  workflow_name,
  kind,
  urgency,
  assigned_to,
  asked_at,
  expires_at,
}: NoticeDue): JsonObject => ({
  id: String(id),
  cause,
  run_id,
  workflow_id,
  workflow_name,
  kind,
  urgency: URGENCIES[urgency] ?? "normal",
  assigned_to,
  asked_at,
  expires_at,
});
