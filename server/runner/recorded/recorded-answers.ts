import { z } from "zod";
import { RunError } from "@/server/domain/agent/outcome";
import type { Settled, StepError } from "@/server/domain/base/durable";
import { asJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { ReplayMode } from "@/server/domain/run/lineage";
import type { RequestDifference } from "@/server/domain/run/request-difference";
import { type AskedRequest, differenceFrom } from "./difference";

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
    /** The requests themselves, by their hashes, in the order of the answers; none where nobody knows them any more. */
    private readonly requests: () => readonly (AskedRequest & { request: string })[] = () => [],
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

  /** What a request asks beside the nearest of those that were recorded and not asked yet. */
  difference(asked: AskedRequest): RequestDifference {
    const left = new Map(this.asked);
    const unused = this.requests().filter(({ request }) => {
      const used = left.get(request) ?? 0;
      left.set(request, used - 1);
      return used <= 0;
    });
    const difference = differenceFrom(asked, unused);
    return this.byRequest?.size === 0 ? { ...difference, sentence: NOTHING_RECORDED } : difference;
  }
}

const NOTHING_RECORDED =
  "The run that is replayed was made before requests were recorded, or asked nothing: none of its answers can be found again.";

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

/** A call of a strict replay that was never recorded: a failure that ends the whole run. */
export function notRecorded(difference: RequestDifference): StepError {
  const message = `This strict replay came to a call that was never recorded, and makes none. ${difference.sentence}`;
  const error = { code: "NOT_RECORDED", message, retryable: false, user_action: "none", detail: difference };
  return { name: "NotRecorded", message, detail: asJson({ error }) };
}

/** The failure of a strict replay that was asked what nobody recorded; undefined where the answer is another one. */
export function missIn(result: Settled): RunError | undefined {
  if (result.ok || result.error.name !== "NotRecorded") return undefined;
  const read = Missed.safeParse(result.error.detail);
  return read.success ? read.data.error : undefined;
}

// Replays of before have another code, and their flows went on with the failure.
const Missed = z.object({ error: RunError.extend({ code: z.literal("NOT_RECORDED") }) });

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
