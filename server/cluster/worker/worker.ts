import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { LiveFrame } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { newControlFetch } from "@/server/egress/control";
import { publicFetch } from "@/server/egress/fetch";
import { LeasedGates } from "@/server/llm/limits/leased-gates";
import type { Models } from "@/server/llm/model";
import { type ModelsOptions, newModels } from "@/server/llm/models";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import type { Effects } from "@/server/runner/node/ports";
import { heldBack, redactJson, registerSecret, withoutHeld } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import type { WorkerSettings } from "@/server/settings";
import { partFor, sentScope } from "@/server/tools/at-workers";
import { portableTools } from "@/server/tools/builtin";
import type { ToolInterface, ToolScope } from "@/server/tools/define";
import { newToolHost, type ToolHost } from "@/server/tools/host";
import { NO_OPERATOR_FILE, readOperatorFile } from "@/server/tools/operator/file";
import { operatorTools } from "@/server/tools/operator/tools";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";
import { CallsStep } from "@/server/tools/sandbox/sandbox";
import type { SegmentHold, SegmentJournal, SegmentStart } from "../protocol";
import type { Heartbeat } from "../worker-protocol";
import { ConnectionEndpoint } from "./connection-endpoint";
import { ControlAway, type ControlClient, ControlRejected, newControlClient } from "./control-client";
import { Heartbeats } from "./heartbeats";
import { LiveSender } from "./live-news";
import { newServed } from "./served-tools";
import { newSnapshotProviders, type SnapshotProviders } from "./snapshot-providers";
import { newWorkerId } from "./worker-id";

/** Longer than any tool may take. */
const TOOL_MS = 30 * 60_000;

const Specs = z.array(ToolSpec);
const Withdrawn = z.string().nullable();
const CodeStep = CallsStep.nullable();

/**
 * The tools of an installation as a worker has them: those at home with workers are called right here, all others at the
 * server. While the server is away a call waits for it; the step's idempotency key makes it happen once.
 */
export function newRemoteTools(
  control: Pick<ControlClient, "ask" | "insist">,
  tools: readonly ToolInterface[],
): ToolHost {
  const registry = new ToolsRegistry();
  for (const tool of tools) if (tool.home === "worker") registry.register(tool);
  const here = newToolHost({
    registry,
    keep: async (run_id, key, { tool, tainted }, text) =>
      String(await control.insist("tools/keep", { run_id, key, tool, tainted, text })),
    forget: () => {},
    matches: matchesSafely,
    runCode: () => Promise.resolve(null),
  });
  return {
    specs: async () => Specs.parse(await control.insist("tools/specs", {})),
    withdrawn: async (role, tool) => Withdrawn.parse(await control.insist("tools/withdrawn", { role, tool })),
    async invoke(name, args, scope) {
      if (registry.get(name)) return here.invoke(name, args, scope);
      const { signal } = scope;
      try {
        const about = { name, args, scope: sentScope(scope) };
        return ToolOutput.parse(await control.insist("tools/invoke", about, { signal, withinMs: TOOL_MS }));
      } catch (error) {
        if (signal.aborted) return { status_code: 408, error: `${name} was stopped.` };
        if (!(error instanceof ControlRejected)) throw error;
        return {
          status_code: error.status === 413 ? 413 : 503,
          error: `${name} could not be called: ${error.message}`,
        };
      }
    },
    async forgetTask(caller) {
      await control.insist("tools/forget", callerOf(caller));
    },
    endTask(caller) {
      registry.endTask(caller);
      // Told in vain is harmless: what is kept for a task is no more than a convenience.
      control.ask("tools/end-task", callerOf(caller)).catch(() => {});
    },
    runCode: async (program, signal, run_id) =>
      CodeStep.parse(
        await control.insist("tools/run-code", { program, run_id }, { signal, withinMs: TOOL_MS }),
      ),
    matches: here.matches,
  };
}

const callerOf = ({ run, agent }: Pick<ToolScope, "run" | "agent">) => ({ run, agent });

/** What a worker has beside the engine's part of it: what runs reach outside, and its way to the server. */
export interface Worker {
  /** Of this process. */
  readonly id: string;
  readonly effects: Effects;
  readonly server: {
    postNews(news: SegmentProgress, abort: AbortSignal): Promise<void>;
    journal(start: SegmentStart, abort: AbortSignal): Promise<SegmentJournal | null>;
    taken(hold: SegmentHold, abort: AbortSignal): Promise<void>;
    isHeld(hold: SegmentHold): Promise<boolean>;
  };
  live(runId: string, frame: LiveFrame): void;
  redact<T>(value: T): T;
  /** Waits for the server and takes its providers over. Throws where server and worker do not belong together. */
  connect(): Promise<void>;
  /** Gives signs of life from now on: the engine can reach it. `running`: how many runs are at work here now. */
  announce(running: () => number): void;
  /** Says that it takes nothing new any more. */
  drain(): Promise<void>;
  /** Says that it has left, and says no more. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  settings: WorkerSettings;
  env: NodeJS.ProcessEnv;
  /** Of Troupe. */
  version: string;
  /** Where the engine reaches it, as host:port. */
  address: string;
  log: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
  /** Opens the connections of model calls, for tests. */
  fetch?: ModelsOptions["fetch"];
  /** How far apart signs of life are, in milliseconds. */
  everyMs?: number;
}

/** How long calls may take to finish that others make here, once the worker's own runs are given back. */
const CALLS_END_MS = 10_000;

export function newWorker(options: WorkerOptions): Worker {
  const { settings, env, version, address, log, fetch, everyMs } = options;
  const { name, labels, runs: limit, control: place } = settings;
  registerSecret(place.token);
  const id = newWorkerId(name);
  const control = newControlClient({ fetch: newControlFetch(place.url), token: place.token });
  const providers = newSnapshotProviders(newSealer(null, env), (lesson) => {
    control
      .learn(lesson)
      .catch((error: unknown) => log("warn", "The server took no lesson.", { error: errorMessage(error) }));
  });
  const refresh = newRefresh(control, providers);
  const gates = new LeasedGates({ onChange: () => heartbeats.soon() });
  const live = new LiveSender(control, { hide: withoutHeld, heldBack });
  const state: { phase: Heartbeat["state"]; running: () => number } = { phase: "working", running: () => 0 };
  const heartbeats: Heartbeats = new Heartbeats({
    control,
    gates,
    log,
    ...defined({ everyMs }),
    about: () => ({
      id,
      name,
      version,
      address,
      labels,
      limit,
      running: state.running(),
      memory_bytes: process.memoryUsage.rss(),
      state: state.phase,
    }),
    onProviders(version) {
      refresh(version).catch((error: unknown) =>
        log("warn", "The providers could not be taken over.", { error: errorMessage(error) }),
      );
    },
  });
  const file = settings.toolsFile === null ? NO_OPERATOR_FILE : readOperatorFile(settings.toolsFile, env);
  const part = partFor(file, labels);
  const line = new ConnectionEndpoint({
    control,
    served: newServed(operatorTools(part, env), part.mcp_servers),
    about: { worker: id, name, labels },
    redact: redactJson,
    log,
  });
  const models = newModels({ providers, gates, ...defined({ fetch }) });
  return {
    id,
    effects: {
      models: { ...models, complete: completing(models, newThrottledRefresh(control, refresh), live) },
      tools: newRemoteTools(control, portableTools({ web: { fetch: publicFetch } })),
    },
    server: {
      postNews: (news, abort) => control.report(news, abort),
      journal: ({ run_id, stretch }, abort) => control.journal(run_id, stretch, abort),
      taken: (hold, abort) => control.taken(hold, abort),
      isHeld: (hold) => control.isHeld(hold),
    },
    live: (runId, frame) => live.add(runId, frame),
    redact: redactJson,
    connect: () => once(refresh, () => log("info", `Waiting for the server at ${place.url}.`)),
    announce(running) {
      state.running = running;
      heartbeats.start();
      line.start();
    },
    async drain() {
      state.phase = "draining";
      line.leave();
      await heartbeats.now();
    },
    async stop() {
      await line.idle(CALLS_END_MS);
      await line.stop();
      state.phase = "gone";
      await heartbeats.now();
      heartbeats.stop();
      gates.stop();
      live.stop();
    },
  };
}

/** Takes the server's providers over where they have another version, once at a time. */
function newRefresh(
  control: Pick<ControlClient, "providers">,
  providers: SnapshotProviders,
): (version?: string) => Promise<void> {
  let inProgress: Promise<void> | null = null;
  const take = async () => providers.replace(await control.providers());
  return async (version) => {
    if (version !== undefined && version === providers.version) return;
    inProgress ??= take().finally(() => {
      inProgress = null;
    });
    await inProgress;
  };
}

/** How long what was heard of the providers is taken for what they are, in milliseconds. */
const FRESH_MS = 200;
const CHECK_TIMEOUT_MS = 1_000;

/** Takes over what has changed since; as things were where the server does not answer. */
function newThrottledRefresh(
  control: Pick<ControlClient, "ask">,
  refresh: (version: string) => Promise<void>,
): () => Promise<void> {
  let refreshedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - refreshedAt < FRESH_MS) return;
    try {
      const began = performance.now();
      await refresh(
        String(await control.ask("providers/version", undefined, { withinMs: CHECK_TIMEOUT_MS })),
      );
      refreshedAt = began;
    } catch (error) {
      if (!(error instanceof ControlAway)) throw error;
    }
  };
}

/** A model call of a worker: of the provider that people chose a moment ago, too. */
const completing =
  (models: Models, refresh: () => Promise<void>, live: LiveSender): Models["complete"] =>
  async (request, io) => {
    await refresh();
    try {
      return await models.complete(request, io);
    } finally {
      live.end(request.run_id, request.call_id);
    }
  };

const AGAIN_MS = 500;

/** Tries until the server is there. */
async function once(take: () => Promise<unknown>, waiting: () => void): Promise<void> {
  for (let hasNotified = false; ; hasNotified = true)
    try {
      return void (await take());
    } catch (error) {
      if (!(error instanceof ControlAway)) throw error;
      if (!hasNotified) waiting();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
}
