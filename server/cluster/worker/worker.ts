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
      // Secrets are filled in on the server, so a worker never has them.
      if (registry.get(name) && !scope.secrets?.length) return here.invoke(name, args, scope);
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

/** What a worker has besides the engine: the effects of its runs, and its connection to the server. */
export class Worker {
  /** Of this process. */
  readonly id: string;
  readonly effects: Effects;
  readonly redact = redactJson;
  /** The server, as the engine's part of a worker calls it. */
  readonly server = {
    postNews: (news: SegmentProgress, abort: AbortSignal): Promise<void> => this.control.report(news, abort),
    journal: ({ run_id, stretch }: SegmentStart, abort: AbortSignal): Promise<SegmentJournal | null> =>
      this.control.journal(run_id, stretch, abort),
    taken: (hold: SegmentHold, abort: AbortSignal): Promise<void> => this.control.taken(hold, abort),
    isHeld: (hold: SegmentHold): Promise<boolean> => this.control.isHeld(hold),
  };
  private readonly control: ControlClient;
  private readonly providers: ProvidersCopy;
  private readonly gates = new LeasedGates({ onChange: () => this.heartbeats.soon() });
  private readonly stream: LiveSender;
  private readonly heartbeats: Heartbeats;
  private readonly connections: ConnectionEndpoint;
  private phase: Heartbeat["state"] = "working";
  private running = () => 0;

  constructor(private readonly options: WorkerOptions) {
    const { settings, env, version, address, log, fetch, everyMs } = options;
    const { name, labels, runs: limit, control: place } = settings;
    registerSecret(place.token);
    this.id = newWorkerId(name);
    this.control = newControlClient({ fetch: newControlFetch(place.url), token: place.token });
    const snapshots = newSnapshotProviders(newSealer(null, env), (lesson) => {
      this.control
        .learn(lesson)
        .catch((error: unknown) =>
          log("warn", "The server rejected a detected capability.", { error: errorMessage(error) }),
        );
    });
    this.providers = new ProvidersCopy(this.control, snapshots);
    this.stream = new LiveSender(this.control, { hide: withoutHeld, heldBack });
    this.heartbeats = new Heartbeats({
      control: this.control,
      gates: this.gates,
      log,
      ...defined({ everyMs }),
      about: () => ({
        id: this.id,
        name,
        version,
        address,
        labels,
        limit,
        running: this.running(),
        memory_bytes: process.memoryUsage.rss(),
        state: this.phase,
      }),
      onProviders: (version) => {
        this.providers
          .refresh(version)
          .catch((error: unknown) =>
            log("warn", "Couldn't copy the providers from the server.", { error: errorMessage(error) }),
          );
      },
    });
    const file = settings.toolsFile === null ? NO_OPERATOR_FILE : readOperatorFile(settings.toolsFile, env);
    const part = partFor(file, labels);
    this.connections = new ConnectionEndpoint({
      control: this.control,
      served: newServed(operatorTools(part, env), part.mcp_servers),
      about: { worker: this.id, name, labels },
      redact: redactJson,
      log,
    });
    const models = newModels({ providers: snapshots, gates: this.gates, ...defined({ fetch }) });
    this.effects = {
      models: { ...models, complete: completing(models, () => this.providers.refreshIfStale(), this.stream) },
      tools: newRemoteTools(this.control, portableTools({ web: { fetch: publicFetch } })),
    };
  }

  live(runId: string, frame: LiveFrame): void {
    this.stream.add(runId, frame);
  }

  /** Waits for the server and copies its providers. Throws if server and worker don't belong together. */
  connect(): Promise<void> {
    const { settings, log } = this.options;
    return once(
      () => this.providers.refresh(),
      () => log("info", `Waiting for the server at ${settings.control.url}.`),
    );
  }

  /** Sends heartbeats from now on: the engine can reach this worker. `running`: how many runs it executes now. */
  announce(running: () => number): void {
    this.running = running;
    this.heartbeats.start();
    this.connections.start();
  }

  /** Tells the server that it accepts nothing new. */
  async drain(): Promise<void> {
    this.phase = "draining";
    this.connections.leave();
    await this.heartbeats.now();
  }

  /** Tells the server that it has left, and sends nothing after that. */
  async stop(): Promise<void> {
    await this.connections.idle(CALLS_END_MS);
    await this.connections.stop();
    this.phase = "gone";
    await this.heartbeats.now();
    this.heartbeats.stop();
    this.gates.stop();
    this.stream.stop();
  }
}

/** How long the copy counts as current, in milliseconds. */
const FRESH_MS = 200;
const CHECK_TIMEOUT_MS = 1_000;

/** A worker's copy of the server's providers. */
class ProvidersCopy {
  private inProgress: Promise<void> | null = null;
  private checkedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly control: Pick<ControlClient, "ask" | "providers">,
    private readonly copy: SnapshotProviders,
  ) {}

  /** Copies the providers unless the copy has this version; one request at a time. */
  async refresh(version?: string): Promise<void> {
    if (version !== undefined && version === this.copy.version) return;
    this.inProgress ??= this.replace().finally(() => {
      this.inProgress = null;
    });
    await this.inProgress;
  }

  /** Copies what changed since the last check; keeps the copy if the server doesn't answer. */
  async refreshIfStale(): Promise<void> {
    if (performance.now() - this.checkedAt < FRESH_MS) return;
    try {
      const began = performance.now();
      const version = await this.control.ask("providers/version", undefined, { withinMs: CHECK_TIMEOUT_MS });
      await this.refresh(String(version));
      this.checkedAt = began;
    } catch (error) {
      if (!(error instanceof ControlAway)) throw error;
    }
  }

  private async replace(): Promise<void> {
    this.copy.replace(await this.control.providers());
  }
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
