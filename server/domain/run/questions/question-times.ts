import type { Interaction } from "../crew-state";
import type { Payloads, PeopleRules } from "../events";

type Requested = Payloads["interaction_requested"];

/** The rules of runs from before there were rules about people. */
export const PEOPLE_BEFORE: PeopleRules = { answer_within_ms: 15 * 60_000 };

/** The default: a question asked at night or before a weekend is still open when people are back. */
export const USUAL_PEOPLE: PeopleRules = { answer_within_ms: 7 * 24 * 3_600_000 };

/** The rules of new runs for limits and team news, besides the time to answer. */
export const RULES_NOW = {
  limits_ask: "everywhere",
  team_news: "told",
} as const satisfies Partial<PeopleRules>;

/** People are reminded after this share of the time without an answer. */
const REMIND_AT = 0.5;
/** Less time than this needs no reminder, in milliseconds. */
const LEAST_TO_REMIND = 10 * 60_000;

/** Until when a question is open. */
export const timesOf = (
  { timeout_s }: Pick<Requested, "timeout_s">,
  people: PeopleRules = PEOPLE_BEFORE,
  now: number,
): { expires_at: number } => ({
  expires_at: now + (timeout_s === undefined ? people.answer_within_ms : timeout_s * 1000),
});

/** What happens next to an unanswered question, and when. `expires_in`: how much longer it stays open after that. */
export type Due =
  | { at: number; what: "remind" }
  | { at: number; what: "expire" }
  | { at: number; what: "escalate"; level: number; to: string; expires_in?: number };

export function nextDue({ requested, requested_at, reminded_at, escalated = [] }: Interaction): Due {
  const { expires_at, escalation = [], on_timeout, timeout_s } = requested;
  const asked = escalated.length;
  // After an escalation at its end a question has its whole time again.
  const begun = escalated.at(-1)?.at ?? requested_at;
  const within = expires_at - requested_at;
  const dues: Due[] = [{ what: "expire", at: expires_at }];
  if (reminded_at === undefined && within >= LEAST_TO_REMIND)
    dues.unshift({ what: "remind", at: requested_at + within * REMIND_AT });
  const next = escalation[asked];
  if (next) {
    const at = requested_at + next.after_s * 1000;
    const level = asked + 1;
    if (at < expires_at) dues.unshift({ what: "escalate", at, level, to: next.to });
    else if (on_timeout === "escalate")
      dues[dues.length - 1] = {
        what: "escalate",
        at: expires_at,
        level,
        to: next.to,
        expires_in: timeout_s === undefined ? Math.max(1000, expires_at - begun) : timeout_s * 1000,
      };
  }
  return dues.reduce((first, due) => (due.at < first.at ? due : first));
}
