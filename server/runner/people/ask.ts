import { createHash } from "node:crypto";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Durable, DurableContext, Flow } from "@/server/domain/base/durable";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { NewEvent, Payloads } from "@/server/domain/run/events";
import { writtenAs } from "@/server/domain/run/fork/lineage";
import { nextDue, PEOPLE_BEFORE, timesOf } from "@/server/domain/run/questions/question-times";
import { PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import { Untrusted } from "@/server/domain/run/started-by";
import type { NodeAnswer, NodeQuestion } from "@/server/domain/tool/person-question";
import type { PersonQuestion } from "../node/ports";

export type Answered = Payloads["interaction_answered"];

/** What asking needs of the attempt of a node that asks. */
export interface Asking {
  readonly s: RunState;
  readonly now: number;
  readonly context: DurableContext;
  emit(event: NewEvent): void;
  stopClock(): void;
  startClock(): void;
  /** Nothing waits for this answer: the run receives it when it comes. */
  adviseLater(interaction_id: string): void;
}

const GivenAnswer = PersonsAnswer.extend({ by: z.string(), untrusted: Untrusted });

/** Nobody waits for the answer to an advisory question. */
const pending = (interaction_id: string): Answered => ({ interaction_id, answer: "cancel", by: "nobody" });

/**
 * Asks a person and waits, durably: reminds them, asks others where the question says so, and gives up when its time is
 * over. `interaction_id` is unique in the run.
 */
export function* askPerson(run: Asking, interaction_id: string, question: PersonQuestion): Flow<Answered> {
  const { about, ...payload } = question;
  const people = run.s.run.people;
  const times = timesOf(payload, people, run.now);
  run.emit({
    type: "interaction_requested",
    ...about,
    payload: {
      interaction_id,
      ...payload,
      fingerprint: fingerprintOf(writtenAs(run.s.run), interaction_id, payload),
      expires_at: times.expires_at,
    },
  });
  if (payload.mode === "advisory") {
    run.adviseLater(interaction_id);
    return pending(interaction_id);
  }
  run.stopClock();
  const signal = run.context.signal(`answer:${interaction_id}`);
  const value = yield* people
    ? waitLong(run, interaction_id, signal, about)
    : waitShort(run, interaction_id, signal);
  const read = GivenAnswer.safeParse(value);
  const answered: Answered = {
    interaction_id,
    ...(read.success ? read.data : { answer: "expired" as const, by: "time" }),
  };
  const id = read.success && isSince(run.s.run, 3) ? { command_id: signal.key } : {};
  run.emit({ type: "interaction_answered", ...about, payload: answered, ...id });
  run.startClock();
  return answered;
}

/** As runs did that know no rules about people: one time, which may be extended. Null: it is over. */
function* waitShort(run: Asking, id: string, answer: Durable): Flow<Json> {
  let until = run.now + PEOPLE_BEFORE.answer_within_ms;
  let expiry = run.context.sleep(`${id}/expiry`, PEOPLE_BEFORE.answer_within_ms);
  for (let k = 2; ; k++) {
    const { key, result } = yield [answer, expiry];
    if (key === answer.key) return result.ok ? result.value : null;
    // It may have been extended meanwhile.
    const { expires_at } = asked(run, id).requested;
    if (expires_at <= until) return null;
    until = expires_at;
    expiry = run.context.sleep(`${id}/expiry${k}`, Math.max(0, until - run.now));
  }
}

/** Waits for the answer from one due time to the next. Null: the last is over. */
function* waitLong(run: Asking, id: string, answer: Durable, about: PersonQuestion["about"]): Flow<Json> {
  for (let k = 1; ; k++) {
    const due = nextDue(asked(run, id));
    const timer = run.context.sleep(`${id}/due${k}`, Math.max(0, due.at - run.now));
    const { key, result } = yield [answer, timer];
    if (key === answer.key) return result.ok ? result.value : null;
    // It may have been extended meanwhile, or be early by a clock that was set.
    const now = nextDue(asked(run, id));
    if (now.what !== due.what || now.at > due.at) continue;
    if (due.what === "expire") return null;
    if (due.what === "remind")
      run.emit({ type: "interaction_reminded", ...about, payload: { interaction_id: id } });
    else
      run.emit({
        type: "interaction_escalated",
        ...about,
        payload: {
          interaction_id: id,
          level: due.level,
          to: due.to,
          ...defined({ expires_at: due.expires_in === undefined ? undefined : run.now + due.expires_in }),
        },
      });
  }
}

const asked = (run: Asking, id: string) => must(run.s.interactions, id);

/** SHA-256 of exactly what an answer is for: an answer for anything else is rejected. */
function fingerprintOf(run: string, interaction_id: string, payload: Omit<PersonQuestion, "about">): string {
  const calls = payload.calls?.map(({ tool_name, args }) => ({ tool: tool_name, args }));
  const { body, options, draft, questions, response_schema } = payload;
  const parts = Object.entries({ body, options, draft, questions, response_schema }).filter(
    ([, part]) => part !== undefined,
  );
  const exactly = {
    run,
    interaction_id,
    ...(calls ? { calls } : { tool: payload.tool_name, args: payload.args }),
    ...(payload.asks && { asks: payload.asks }),
    ...(parts.length > 0 ? { title: payload.title, ...Object.fromEntries(parts) } : {}),
  };
  return createHash("sha256").update(canonicalJson(exactly)).digest("hex");
}

/** An answer as a node reads it. */
export function readNodeAnswer(
  { answer, option, value, message, by }: Omit<Answered, "interaction_id">,
  { mode }: NodeQuestion,
): NodeAnswer {
  const known = mode === "advisory" ? "pending" : isNodeAnswer(answer) ? answer : "reject";
  return {
    answer: known,
    by,
    ...defined({ option, value, message }),
  };
}

const isNodeAnswer = (answer: Answered["answer"]): answer is Exclude<NodeAnswer["answer"], "pending"> =>
  answer === "chosen" || answer === "given" || answer === "reject" || answer === "expired";
