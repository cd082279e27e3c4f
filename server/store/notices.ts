import type { Db } from "@/db/open";
import { recordOf } from "@/server/domain/base/guards";

/** Why people are notified outside the app: a question, a reminder, an escalation. */
export type NoticeCause = "asked" | "reminded" | "escalated";
export const NOTICE_CHANNELS = ["webhook", "email"] as const;
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number];

/** The row of the settings that says where notices go. */
export const NOTICE_SETTINGS = "notices";

/** How long a question must be open before anyone is notified: one that is answered at once needs no notification. */
export const GRACE_MS = 2_000;
/** With more than this waiting, further ones are not sent: the recipients already know that something waits. */
const MOST_WAITING = 1_000;
const TOO_MANY = `Not sent, because more than ${MOST_WAITING.toLocaleString("en")} notifications were already waiting.`;
/** How long sent and failed notifications are kept. */
const KEPT_MS = 7 * 86_400_000;

/** The way in: part of the transaction of a turn, so that what is rolled back is never told, and no crash loses one. */
export function newNoticeOutbox({ $client: client }: Db, now: () => number) {
  const settings = client.prepare<[string], { value: string }>("select value from settings where key = ?");
  const waiting = client.prepare<[], { count: number }>(
    "select count(*) as count from notices where state = 'waiting'",
  );
  const insert = client.prepare(
    `insert or ignore into notices (run_id, interaction_id, cause, nth, channel, created_at, due_at, state, fault)
     values (@runId, @interactionId, @cause, @nth, @channel, @at, @dueAt, @state, @fault)`,
  );
  return {
    put(runId: string, interactionId: string, cause: NoticeCause, nth = 0): void {
      const channels = channelsIn(settings.get(NOTICE_SETTINGS)?.value);
      if (channels.length === 0) return;
      const isFull = (waiting.get()?.count ?? 0) >= MOST_WAITING;
      const becomes = isFull ? { state: "failed", fault: TOO_MANY } : { state: "waiting", fault: null };
      const at = now();
      for (const channel of channels)
        insert.run({ runId, interactionId, cause, nth, channel, at, dueAt: at + GRACE_MS, ...becomes });
    },
  };
}

/** The channels that are switched on; none where the settings cannot be read: then nothing could be sent either. */
function channelsIn(value: string | undefined): NoticeChannel[] {
  if (value === undefined) return [];
  try {
    const { webhook, email } = recordOf(JSON.parse(value));
    return [
      ...(recordOf(webhook).is_on === true ? ["webhook" as const] : []),
      ...(recordOf(email).is_on === true ? ["email" as const] : []),
    ];
  } catch {
    return [];
  }
}

/** A notice that is to go out, with what it may say of its question: nothing of the material. */
export interface NoticeDue {
  id: number;
  run_id: string;
  interaction_id: string;
  cause: NoticeCause;
  channel: NoticeChannel;
  attempts: number;
  workflow_id: string | null;
  workflow_name: string;
  kind: string;
  urgency: number;
  assigned_to: string | null;
  asked_at: number;
  expires_at: number | null;
}

export type NoticeStore = ReturnType<typeof newNoticeStore>;

/** The outbox of notifications. */
export function newNoticeStore({ $client: client }: Db, now: () => number = Date.now) {
  const forgetAnswered = client.prepare(
    `update notices set state = 'obsolete' where state = 'waiting' and not exists
     (select 1 from run_questions q where q.run_id = notices.run_id and q.interaction_id = notices.interaction_id)`,
  );
  const due = client.prepare<[number, number], NoticeDue>(
    `select n.id, n.run_id, n.interaction_id, n.cause, n.channel, n.attempts, r.workflow_id, r.workflow_name,
       q.kind, q.urgency, q.assigned_to, q.asked_at, q.expires_at
     from notices n join run_questions q on q.run_id = n.run_id and q.interaction_id = n.interaction_id
       join runs r on r.id = n.run_id
     where n.state = 'waiting' and n.due_at <= ? order by n.due_at, n.id limit ?`,
  );
  const next = client.prepare<[], { at: number | null }>(
    "select min(due_at) as at from notices where state = 'waiting'",
  );
  const sent = client.prepare<[number]>("update notices set state = 'sent', fault = null where id = ?");
  const failed = client.prepare<[string, number, string, number]>(
    "update notices set state = ?, due_at = ?, fault = ? where id = ?",
  );
  const begin = client.prepare<[number, number]>(
    "update notices set attempts = attempts + 1, due_at = ? where id = ? and state = 'waiting'",
  );
  const drop = client.prepare<[string]>(
    "update notices set state = 'obsolete' where state = 'waiting' and channel = ?",
  );
  const tidy = client.prepare<[number]>("delete from notices where state <> 'waiting' and created_at < ?");
  const undelivered = client.prepare<[], UndeliveredNotice>(
    `select n.channel, n.state, n.attempts, n.created_at, n.due_at, n.fault, n.run_id, coalesce(r.workflow_name, '') as workflow_name,
       r.workflow_id from notices n left join runs r on r.id = n.run_id
     where n.fault is not null and n.state in ('waiting', 'failed') order by n.id desc limit 20`,
  );
  return {
    /** Notifications that are due, oldest first. Those whose question was answered meanwhile are dropped. */
    due(limit: number): NoticeDue[] {
      forgetAnswered.run();
      return due.all(now(), limit);
    },
    /** When the next one is due; null if none waits. */
    nextAt: (): number | null => next.get()?.at ?? null,
    /**
     * Counts an attempt before it is made. `again`: when to retry if this one reports nothing. False: no longer wanted.
     */
    begin: (id: number, again: number): boolean => begin.run(again, id).changes > 0,
    sent: (id: number): void => void sent.run(id),
    /** `again`: when it is tried once more; null: never. */
    failed(id: number, error: string, again: number | null): void {
      failed.run(again === null ? "failed" : "waiting", again ?? 0, error, id);
    },
    /** Nothing that waits goes this way any more. */
    drop: (channel: NoticeChannel): void => void drop.run(channel),
    tidy: (): void => void tidy.run(now() - KEPT_MS),
    /** What could not be delivered, or not yet; the newest first. */
    undelivered: (): UndeliveredNotice[] => undelivered.all(),
  };
}

/** An undelivered notification. `state`: waiting, if it is retried at `due_at`. */
export interface UndeliveredNotice {
  channel: NoticeChannel;
  state: "waiting" | "failed";
  attempts: number;
  created_at: number;
  due_at: number;
  fault: string;
  run_id: string;
  workflow_id: string | null;
  workflow_name: string;
}
