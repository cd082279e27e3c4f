import { z } from "zod";
import { RunError } from "@/server/domain/agent/outcome";
import type { Settled, StepError } from "@/server/domain/base/durable";
import { asJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { ReplayMode } from "@/server/domain/run/fork/lineage";
import type { RequestDifference } from "@/server/domain/run/request-difference";
import { type AskedRequest, differenceFrom } from "./difference";

/** One answer of a run's log, as far as another run may be given it. */
export interface RecordedAnswer {
  key: string;
  turn: number;
  at: number;
  result: Settled;
  /** The run in whose log it is; absent: the one that the answers are named after. */
  run?: string;
}

/** What one asking of a request came to. */
interface RecordedCall {
  run: string;
  /** As it was recorded; where a person had to agree first, this says so. */
  result: Settled;
  /** What the run continued with; absent where nothing came. */
  value?: Json;
  /** The call was begun and its answer is unknown. */
  isInFlight?: boolean;
}

/** What follows the key of a call in the key of the same call once a person agreed to it; a number may come behind. */
export const AGREED = "/agreed";
/** The answer of the person who agreed to the call of that key. */
export const questionOf = (agreed: string): string =>
  `answer:${agreed.replace(/\/agreed(\d*)$/, "/before$1")}`;
/** The key of the call that a person agreed to; null where no person was asked about this one. */
export const agreedTo = (key: string): string | null => /^(.*)\/agreed\d*$/.exec(key)?.[1] ?? null;

/**
 * The answers of a run, and of those that it comes from, by their requests. Where the same was asked several times, the first
 * time gets the first answer, the second the second: an agent that is sampled three times gave three answers. A failure is
 * no answer: it may have passed.
 */
export class RecordedAnswers {
  private byRequest: ReturnType<typeof byRequest> | null = null;
  private length = 0;
  private readonly asked = new Map<string, number>();

  /** `read` gives the answers of the run first, then those of the run that it comes from, and so on. */
  constructor(
    readonly runId: string,
    private readonly read: () => Iterable<RecordedAnswer>,
    /** Set where the run is a replay: everything comes from here. */
    readonly replay?: ReplayMode,
    /** The recorded requests by hash, in the order of their answers; empty if they are no longer known. */
    private readonly requests: () => readonly (AskedRequest & { request: string })[] = () => [],
    /** How long the logs of these runs are. */
    private readonly lengthNow: () => number = () => 0,
  ) {}

  /** The request was answered in this run, or is being asked. */
  note(request: string): void {
    this.asked.set(request, (this.asked.get(request) ?? 0) + 1);
  }

  /** A step of this run was settled before it was taken up. */
  noteSettled(key: string, result: Settled): void {
    if (result.request === undefined || !(result.ok || obstacleOf(result.error))) return;
    this.note(agreedTo(key) === null ? result.request : result.request + AGREED);
  }

  /** What this asking of the request came to; undefined where it was asked less often. `isNow`: whatever was answered since counts. */
  next(request: string, isNow = false): RecordedCall | undefined {
    const found = this.found(request);
    if (found?.value !== undefined || !isNow || this.lengthNow() === this.length) return found;
    this.byRequest = null;
    return this.found(request);
  }

  private found(request: string): RecordedCall | undefined {
    if (!this.byRequest) {
      this.length = this.lengthNow();
      this.byRequest = byRequest(this.read(), this.runId);
    }
    const calls = this.byRequest.get(request)?.[this.asked.get(request) ?? 0];
    const [nearest] = calls ?? [];
    const answered = calls?.find(({ value }) => value !== undefined);
    return nearest && answered ? { ...answered, result: nearest.result } : nearest;
  }

  /** Whether a person answered in the run that is replayed, so that the replay was given that answer. */
  wasAnswered(question: string): boolean {
    for (const { key, run = this.runId } of this.read())
      if (run === this.runId && key === question) return true;
    return false;
  }

  /** Compares a request with the nearest recorded one that hasn't been asked yet. */
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
  "The original run predates the recording of requests or made no requests, so none of its answers can be reused.";

/** How many askings of these came to something. */
export const countRecorded = (answers: Iterable<RecordedAnswer>): number =>
  [...byRequest(answers, "")]
    .filter(([request]) => !request.endsWith(AGREED))
    .reduce((sum, [, calls]) => sum + calls.filter(([call]) => call?.value !== undefined).length, 0);

/** What each asking of a request came to, that of the nearest run first. */
function byRequest(answers: Iterable<RecordedAnswer>, runId: string): Map<string, RecordedCall[][]> {
  const found = new Map<string, RecordedCall[][]>();
  const counts = new Map<string, number>();
  const stopped = new Map<string, RecordedCall>();
  const add = (request: string, call: RecordedCall) => {
    const place = `${call.run} ${request}`;
    const k = counts.get(place) ?? 0;
    counts.set(place, k + 1);
    const calls = found.get(request) ?? [];
    found.set(request, calls);
    (calls[k] ??= []).push(call);
  };
  for (const { key, result, run = runId } of answers) {
    const { request } = result;
    if (request === undefined) continue;
    const obstacle = result.ok ? null : obstacleOf(result.error);
    if (!result.ok && !obstacle) continue;
    const value = result.ok ? result.value : obstacle && "value" in obstacle ? obstacle.value : undefined;
    const isInFlight = obstacle?.why === "in_flight";
    const call: RecordedCall = { run, result, ...(value === undefined ? {} : { value, isInFlight }) };
    const first = agreedTo(key);
    add(first === null ? request : request + AGREED, call);
    if (first === null) stopped.set(`${run} ${key}`, call);
    else if (result.ok || isInFlight)
      Object.assign(stopped.get(`${run} ${first}`) ?? {}, { value, isInFlight });
  }
  return found;
}

/** Name of a step's failure that needs a person's approval first; `detail` says why. */
const NEEDS_AGREEMENT = "NeedsAgreement";

/** Why a step was not executed. */
export type Obstacle =
  | {
      /** The original made this very call, and it may have had an effect. */
      why: "done_before";
      run: string;
      value: Json;
    }
  | {
      /** It was in flight when the process of this run ended. */
      why: "in_flight";
      run: string;
      /** What the run continues with where the call is not repeated. */
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
  const message = `This strict replay reached a call that was never recorded. Strict replays make no new calls. ${difference.sentence}`;
  const error = { code: "NOT_RECORDED", message, retryable: false, user_action: "none", detail: difference };
  return { name: "NotRecorded", message, detail: asJson({ error }) };
}

/** The failure of a strict replay for a request that was not recorded; undefined for any other result. */
export function missIn(result: Settled): RunError | undefined {
  if (result.ok || result.error.name !== "NotRecorded") return undefined;
  const read = Missed.safeParse(result.error.detail);
  return read.success ? read.data.error : undefined;
}

// Earlier replays have another code, and their flows continued after the failure.
const Missed = z.object({ error: RunError.extend({ code: z.literal("NOT_RECORDED") }) });

/** A call that is not repeated unless a person agrees. */
export const inFlight = (run: string): Obstacle => ({
  why: "in_flight",
  run,
  value: {
    status_code: 409,
    error:
      "This call was started before and its result is unknown, so it may have been executed. It was not repeated.",
  },
});

/** A step that waits for a person's word, as its failure. */
export const obstacle = (about: Obstacle): StepError => ({
  name: NEEDS_AGREEMENT,
  message: about.why === "not_recorded" ? "This was never requested before." : "This call was made before.",
  detail: { ...about },
});

/** Why a step was not executed; null for other failures. */
export function obstacleOf({ name, detail }: StepError): Obstacle | null {
  if (name !== NEEDS_AGREEMENT || detail === null || typeof detail !== "object" || Array.isArray(detail))
    return null;
  const { why, run, value = null, difference } = detail;
  if (typeof run !== "string") return null;
  if (why === "done_before" || why === "in_flight") return { why, run, value };
  return why === "not_recorded" && typeof difference === "string" ? { why, run, difference } : null;
}
