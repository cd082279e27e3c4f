import type { Settled, StepError } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { ReplayMode } from "@/server/domain/run/lineage";

/** One answer of a run's log, as far as another run may be given it. */
export interface RecordedAnswer {
  key: string;
  turn: number;
  at: number;
  result: Settled;
}

/**
 * The answers of a run by their requests. Where the same was asked several times, the first time gets the first answer, the
 * second the second: an agent that is sampled three times gave three answers. A failure is no answer: it may have passed.
 */
export class RecordedAnswers {
  private byRequest: Map<string, RecordedAnswer[]> | null = null;
  private readonly asked = new Map<string, number>();

  /** `read` is called once, when something is looked up for the first time. */
  constructor(
    readonly runId: string,
    private readonly read: () => Iterable<RecordedAnswer>,
    /** Set where the run is a replay: everything comes from here. */
    readonly replay?: ReplayMode,
  ) {}

  /** The request was answered in this run, or is being asked. */
  note(request: string): void {
    this.asked.set(request, (this.asked.get(request) ?? 0) + 1);
  }

  /** The answer that this asking of the request had; undefined where it was asked less often. */
  next(request: string): RecordedAnswer | undefined {
    this.byRequest ??= byRequest(this.read());
    return this.byRequest.get(request)?.[this.asked.get(request) ?? 0];
  }
}

function byRequest(answers: Iterable<RecordedAnswer>): Map<string, RecordedAnswer[]> {
  const found = new Map<string, RecordedAnswer[]>();
  for (const answer of answers) {
    const { request, ok } = answer.result;
    if (request === undefined || !ok) continue;
    const same = found.get(request);
    if (same) same.push(answer);
    else found.set(request, [answer]);
  }
  return found;
}

/** The name of the failure of a step that is not carried out before a person agrees; `detail` says what stands in the way. */
const NEEDS_AGREEMENT = "NeedsAgreement";

/** Why a step was not carried out. */
export type Obstacle =
  | {
      /** The original made this very call, and it may have had an effect. */
      why: "done_before";
      run: string;
      value: Json;
    }
  | {
      /** A replay asks what was never asked. */
      why: "not_recorded";
      run: string;
      difference: string;
    };

/** A call of a strict replay that was never recorded, as a failure that nobody tries again. */
export function notRecorded(kind: string): StepError {
  const message = `This replay has no recorded answer for a call of a ${kind}, and a strict one makes none.`;
  const error = { code: "CONFIG", message, retryable: false, user_action: "none" };
  return { name: "NotRecorded", message, detail: { error } };
}

/** A step that waits for a person's word, as its failure. */
export const obstacle = (about: Obstacle): StepError => ({
  name: NEEDS_AGREEMENT,
  message: about.why === "done_before" ? "This call was made before." : "This was never asked before.",
  detail: { ...about },
});

/** What stands in the way of a step; null where its failure is another one. */
export function obstacleOf({ name, detail }: StepError): Obstacle | null {
  if (name !== NEEDS_AGREEMENT || detail === null || typeof detail !== "object" || Array.isArray(detail))
    return null;
  const { why, run, value = null, difference } = detail;
  if (typeof run !== "string") return null;
  if (why === "done_before") return { why, run, value };
  return why === "not_recorded" && typeof difference === "string" ? { why, run, difference } : null;
}
