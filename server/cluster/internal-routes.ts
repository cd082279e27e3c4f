import { z } from "zod";
import type { ProviderSnapshot } from "@/server/domain/model/provider-snapshot";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import type { ToolHost } from "@/server/tools/host";
import { CallsOnce } from "./calls-once";
import { get, post, RequestRejected, type Route } from "./internal-api";
import type { LiveNews, SegmentHold, SegmentJournal } from "./protocol";
import type { WorkerConnections } from "./worker-connections";
import {
  CallerBody,
  FramesBody,
  Heartbeat,
  type HeartbeatAnswer,
  HoldBody,
  InvokeBody,
  KeepBody,
  LearnBody,
  LineBody,
  LiveBody,
  NewsBody,
  RunCodeBody,
  WithdrawnBody,
} from "./worker-protocol";

const MIB = 1024 * 1024;
/** The limit of a turn's events and results together; the engine's messages are no larger. */
const NEWS_BYTES = 64 * MIB;
const LIVE_BYTES = 8 * MIB;
const TOOL_BYTES = 40 * MIB;

/** Receives what workers report about runs. */
export interface SegmentReceiver {
  /** Resolves once it is in the log; outdated progress is dropped. */
  receive(news: SegmentProgress): Promise<void>;
  /** A worker runs it from now on. */
  taken(hold: SegmentHold): void;
  /** Whether it still runs it, as far as is known. */
  isHeld(hold: SegmentHold): boolean;
  /** Null if it isn't the run's current segment. */
  journal(runId: string, segment: number): SegmentJournal | null;
  live(news: LiveNews): void;
}

/** What the server provides to workers. */
export interface InternalParts {
  runs: SegmentReceiver;
  tools: ToolHost;
  /** Stores a tool's whole result as an artifact of its run; returns its id. */
  keep(runId: string, callKey: string, about: { tool: string; tainted: boolean }, text: string): string;
  /** Redacts secrets that the server knows, and its workers may not. */
  redact<T>(value: T): T;
  providers: { version(): string; snapshot(): ProviderSnapshot; learn(lesson: LearnBody): void };
  /** `beat` returns null for an outdated heartbeat. */
  workers: { beat(heartbeat: Heartbeat): HeartbeatAnswer | null; list(): unknown };
  /** Work for the server that depends on a worker's labels. */
  lines: Pick<WorkerConnections, "ask" | "hear">;
  calls?: CallsOnce;
}

export function internalRoutes(parts: InternalParts): Route[] {
  const { runs, redact, providers, workers, lines } = parts;
  return [
    post("/turns", NewsBody, (news) => runs.receive(redact(news)), NEWS_BYTES),
    get("/journal", ({ search }) => {
      const journal = runs.journal(search.get("run") ?? "", Number(search.get("stretch")));
      if (!journal) throw new RequestRejected(404, "NOT_FOUND", "That segment is no longer active.");
      return journal;
    }),
    post("/stretch/taken", HoldBody, (hold) => runs.taken(hold)),
    post("/stretch/held", HoldBody, (hold) => runs.isHeld(hold)),
    post("/live", LiveBody, (news) => runs.live(redact(news)), LIVE_BYTES),
    post("/heartbeat", Heartbeat, (heartbeat) => {
      const answer = workers.beat(heartbeat);
      if (!answer) throw new RequestRejected(409, "OVERTAKEN", "A newer heartbeat has arrived.");
      return answer;
    }),
    get("/workers", () => workers.list()),
    get("/providers/version", () => providers.version()),
    get("/providers", () => providers.snapshot()),
    post("/learn", LearnBody, (lesson) => providers.learn(lesson)),
    post("/line/ask", LineBody, (question, { signal }) => lines.ask(question, signal), LIVE_BYTES),
    post("/line/tell", FramesBody, (frames) => lines.hear(redact(frames)), TOOL_BYTES),
    ...toolRoutes(parts),
  ];
}

function toolRoutes({ tools, keep, redact, calls = new CallsOnce() }: InternalParts): Route[] {
  return [
    post("/tools/specs", z.object({}), () => tools.specs()),
    post("/tools/withdrawn", WithdrawnBody, ({ role, tool }) => tools.withdrawn?.(role, tool)),
    post(
      "/tools/invoke",
      InvokeBody,
      ({ name, args, scope }, { signal }) =>
        calls.run({ name, args, scope }, signal, async (abort) =>
          redact(await tools.invoke(name, args, { ...scope, signal: abort })),
        ),
      TOOL_BYTES,
    ),
    post("/tools/forget", CallerBody, (caller) => tools.forgetTask(caller)),
    post("/tools/end-task", CallerBody, (caller) => tools.endTask?.(caller)),
    post(
      "/tools/run-code",
      RunCodeBody,
      ({ program, run_id }, { signal }) => tools.runCode(program, signal, run_id),
      TOOL_BYTES,
    ),
    post(
      "/tools/keep",
      KeepBody,
      ({ run_id, key, tool, tainted, text }) => keep(run_id, key, { tool, tainted }, redact(text)),
      TOOL_BYTES,
    ),
  ];
}
