import type { Db } from "@/db/open";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { type OpenQuestion, URGENCIES } from "@/server/domain/run/questions/open-questions";
import type { Urgency } from "@/server/domain/tool/person-question";
import { newNoticeOutbox } from "../notices";
import { ownJson } from "../own-json";

/** An open question as lists show it, with the run that asks it. Times in Unix milliseconds. */
export interface QuestionListed extends OpenQuestion {
  run_id: string;
  workflow_id: string | null;
  workflow_name: string;
  /** The offline demo model answered in this run. */
  simulated: boolean;
  /** Why its run is quarantined, or null. Until the run is released, the question can't be answered. */
  held: QuarantineReason | null;
  /** When people were reminded of it; null where they were not. */
  reminded_at: number | null;
  /** How often it was escalated. */
  escalations: number;
}

export interface QuestionQuery {
  workflow_id?: string | undefined;
  kind?: string | undefined;
  /** Only those that are to be answered by this person, or by anybody. */
  assigned_to?: string | undefined;
  /** Only those that need this expertise. */
  expertise?: string | undefined;
  run_id?: string | undefined;
  limit?: number | undefined;
}

/** Default limit of the list. */
const MOST_LISTED = 200;

/** What the database is asked for; null where that is not narrowed down. */
type Wanted = Record<Exclude<keyof QuestionQuery, "limit">, string | null>;

const wanted = ({ workflow_id, kind, assigned_to, expertise, run_id }: QuestionQuery): Wanted => ({
  workflow_id: workflow_id ?? null,
  kind: kind ?? null,
  assigned_to: assigned_to ?? null,
  expertise: expertise ?? null,
  run_id: run_id ?? null,
});

/** `asked_at`: Unix time in milliseconds. */
export interface NewestQuestion {
  asked_at: number;
  run_id: string;
  interaction_id: string;
}

interface Row {
  run_id: string;
  workflow_id: string | null;
  workflow_name: string;
  simulated: number;
  held: string | null;
  urgency: number;
  assigned_to: string | null;
  reminded_at: number | null;
  escalations: number;
  question: string;
}

type Kept = Pick<OpenQuestion, "ask" | "asker">;

export type RunQuestions = ReturnType<typeof newRunQuestions>;

/** The questions of one run as they are written: part of the transaction of a turn. */
export function newRunQuestions(db: Db, now: () => number) {
  const { $client: client } = db;
  const outbox = newNoticeOutbox(db, now);
  const known = client.prepare<[string], { id: string; reminded: number | null; escalations: number }>(
    `select interaction_id as id, reminded_at as reminded, escalations from run_questions where run_id = ?`,
  );
  const drop = client.prepare<[string]>("delete from run_questions where run_id = ?");
  const insert = client.prepare(
    `insert into run_questions (run_id, interaction_id, kind, title, urgency, assigned_to, asked_at, expires_at, reminded_at,
     escalations, question) values (@run_id, @interaction_id, @kind, @title, @urgency, @assigned_to, @asked_at, @expires_at,
     @reminded_at, @escalations, @question)`,
  );
  return {
    /** Nobody is asked anything by this run. */
    drop: (runId: string): void => void drop.run(runId),

    /** These and no others are open now. What is new of them goes into the outbox of notices. */
    replace(runId: string, open: readonly OpenQuestion[]): void {
      const before = new Map(known.all(runId).map((row) => [row.id, row]));
      drop.run(runId);
      for (const { ask, asker, urgency, assigned_to } of open) {
        const { reminded_at, escalated } = ask;
        const was = before.get(ask.id);
        const escalations = escalated?.length ?? 0;
        const kept: Kept = { ask, asker };
        insert.run({
          run_id: runId,
          interaction_id: ask.id,
          kind: ask.requested.kind,
          title: ask.requested.title,
          urgency: URGENCIES.indexOf(urgency),
          assigned_to,
          asked_at: ask.requested_at,
          expires_at: ask.requested.expires_at,
          reminded_at: reminded_at ?? null,
          escalations,
          question: JSON.stringify(kept),
        });
        if (!was) outbox.put(runId, ask.id, "asked");
        if (reminded_at !== undefined && !was?.reminded) outbox.put(runId, ask.id, "reminded");
        if (escalations > (was?.escalations ?? 0)) outbox.put(runId, ask.id, "escalated", escalations);
      }
    },
  };
}

export type QuestionStore = ReturnType<typeof newQuestionStore>;

/** As SQLite has it. */
const NO_LIMIT = -1;

/** The open questions of all runs. */
export function newQuestionStore({ $client: client }: Db) {
  const select = client.prepare<Wanted & { limit: number }, Row>(
    `select q.run_id, r.workflow_id, r.workflow_name, r.simulated, r.held, q.urgency, q.assigned_to, q.reminded_at, q.escalations, q.question
     from run_questions q join runs r on r.id = q.run_id
     where r.deleted_at is null
       and (@workflow_id is null or r.workflow_id = @workflow_id)
       and (@kind is null or q.kind = @kind)
       and (@assigned_to is null or q.assigned_to is null or q.assigned_to = @assigned_to)
       and (@expertise is null or exists
         (select 1 from json_each(q.question, '$.ask.requested.required_expertise') where value = @expertise))
       and (@run_id is null or q.run_id = @run_id)
     order by r.held is not null, q.urgency, q.expires_at is null, q.expires_at, q.asked_at, q.run_id, q.interaction_id
     limit @limit`,
  );
  const count = client
    .prepare<[], number>(
      `select count(*) from run_questions q join runs r on r.id = q.run_id
       where r.deleted_at is null and r.held is null`,
    )
    .pluck();
  const newest = client.prepare<[], NewestQuestion>(
    `select q.asked_at, q.run_id, q.interaction_id from run_questions q join runs r on r.id = q.run_id
     where r.deleted_at is null and r.held is null order by q.asked_at desc, q.rowid desc limit 1`,
  );
  const find = client.prepare<[string, string], { question: string }>(
    "select question from run_questions where run_id = ? and interaction_id = ?",
  );
  return {
    /** Sorted by urgency, then by deadline. Questions of quarantined runs come last. */
    list: ({ limit = MOST_LISTED, ...query }: QuestionQuery = {}): QuestionListed[] =>
      select.all({ ...wanted(query), limit }).map(({ question, held, urgency, simulated, ...row }) => ({
        ...row,
        simulated: simulated === 1,
        ...ownJson<Kept>(question),
        held: held === null ? null : ownJson<QuarantineReason>(held),
        urgency: urgencyAt(urgency),
      })),

    /** How many the list would have without a limit, those that are held among them. */
    total: (query: Omit<QuestionQuery, "limit"> = {}): number =>
      select.all({ ...wanted(query), limit: NO_LIMIT }).length,

    /** How many can be answered, and the newest of them. */
    count: () => ({ open: count.get() ?? 0, newest: newest.get() ?? null }),

    isOpen: (runId: string, interactionId: string): boolean => find.get(runId, interactionId) !== undefined,
  };
}

const urgencyAt = (place: number): Urgency => URGENCIES[place] ?? "normal";
