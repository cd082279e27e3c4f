import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";
import type { ProviderSnapshot } from "@/server/domain/model/provider-snapshot";
import type { ControlFetch } from "@/server/egress/control";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import type { LiveNews, SegmentHold, SegmentJournal } from "../protocol";
import {
  ErrorBody,
  type Heartbeat,
  HeartbeatAnswer,
  type LearnBody,
  SegmentJournalBody,
  SnapshotBody,
} from "../worker-protocol";

/** The server does not answer, or not in time; asked again it may. The message is for people. */
export class ControlAway extends namedError("ControlAway") {}

/** The server refuses what it was asked, and will again. */
export class ControlRejected extends namedError("ControlRejected") {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const SHORT_MS = 10_000;
const LONG_MS = 120_000;
/** Of a sign of life: the next one must not wait for long. */
const BEAT_MS = 4_000;
const long = (signal: AbortSignal | undefined): AskOptions => ({
  withinMs: LONG_MS,
  ...defined({ signal }),
});
/** Between two tries, doubled each time up to the second. */
const RETRY_MS = [100, 2_000] as const;

export interface AskOptions {
  signal?: AbortSignal;
  withinMs?: number;
}

export interface ControlClient {
  /** Throws ControlAway or ControlRejected, or the signal's reason. */
  ask(path: string, body?: unknown, options?: AskOptions): Promise<unknown>;
  /** Asks until the server answers. Throws ControlRejected, or the signal's reason. */
  insist(path: string, body?: unknown, options?: AskOptions): Promise<unknown>;
  /** Throws ControlAway or ControlRejected: whoever carries news tries again. */
  report(news: SegmentProgress, signal?: AbortSignal): Promise<void>;
  /** Null where the stretch is not at work any more. Throws ControlAway. */
  journal(runId: string, segment: number, signal?: AbortSignal): Promise<SegmentJournal | null>;
  /** Tells until the server has it. Throws ControlRejected, or the signal's reason. */
  taken(hold: SegmentHold, signal: AbortSignal): Promise<void>;
  /** Throws ControlAway or ControlRejected. */
  isHeld(hold: SegmentHold): Promise<boolean>;
  live(news: LiveNews): Promise<void>;
  beat(heartbeat: Heartbeat): Promise<HeartbeatAnswer>;
  providers(): Promise<ProviderSnapshot>;
  learn(lesson: LearnBody): Promise<void>;
}

/** A worker's way to its server. */
export function newControlClient(options: { fetch: ControlFetch; token: string }): ControlClient {
  const { fetch, token } = options;
  const ask: ControlClient["ask"] = async (path, body, { signal, withinMs = SHORT_MS } = {}) => {
    const timeout = AbortSignal.timeout(withinMs);
    try {
      const response = await fetch(path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const value: unknown = await response.json();
      if (response.ok) return value;
      throw refusal(response.status, value);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof ControlAway || error instanceof ControlRejected) throw error;
      throw new ControlAway(`Can't reach the server's port for workers: ${causeOf(error)}`, { cause: error });
    }
  };
  const insist: ControlClient["insist"] = async (path, body, asked = {}) => {
    for (let wait: number = RETRY_MS[0]; ; wait = Math.min(wait * 2, RETRY_MS[1])) {
      try {
        return await ask(path, body, asked);
      } catch (error) {
        if (!(error instanceof ControlAway)) throw error;
        await sleep(wait, undefined, asked.signal ? { signal: asked.signal } : {});
      }
    }
  };
  return {
    ask,
    insist,
    async report(news, signal) {
      await ask("turns", news, long(signal));
    },
    async journal(runId, segment, signal) {
      const search = new URLSearchParams({ run: runId, stretch: String(segment) });
      try {
        return SegmentJournalBody.parse(await ask(`journal?${search}`, undefined, long(signal)));
      } catch (error) {
        if (error instanceof ControlRejected && error.status === 404) return null;
        throw error;
      }
    },
    async taken(hold, signal) {
      await insist("stretch/taken", hold, { signal });
    },
    isHeld: async (hold) => (await ask("stretch/held", hold)) === true,
    async live(news) {
      await ask("live", news);
    },
    beat: async (heartbeat) =>
      HeartbeatAnswer.parse(await ask("heartbeat", heartbeat, { withinMs: BEAT_MS })),
    providers: async () => SnapshotBody.parse(await ask("providers", undefined, { withinMs: LONG_MS })),
    async learn(lesson) {
      await insist("learn", lesson);
    },
  };
}

/** What a status says; failures of the server itself may pass. */
function refusal(status: number, value: unknown): Error {
  const read = ErrorBody.safeParse(value);
  const { code, message } = read.success
    ? read.data.error
    : { code: "UNKNOWN", message: `It returned ${status}.` };
  if (status === 401)
    return new ControlRejected(
      401,
      code,
      "The server rejects this worker: set TROUPE_WORKER_TOKEN to the same value as on the server.",
    );
  return status >= 500 || status === 429
    ? new ControlAway(message)
    : new ControlRejected(status, code, message);
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return errorMessage(cause);
}
