import { type Db, openDb } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { type InstallationRules, RunConfig } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import { isPlanFile } from "@/server/domain/crew/plan-file";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { PeopleRules, RunEvent } from "@/server/domain/run/events";
import { readAnswer } from "@/server/domain/run/questions/person-answer";
import type { StartedBy } from "@/server/domain/run/started-by";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { lastOf } from "@/server/store/runs/log-chain";
import type { RunningMarker } from "@/server/store/runs/running-marker";
import { newRunStore } from "@/server/store/runs/runs";
import type { ToolInterface } from "@/server/tools/define";
import { newToolHost, type ToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { runWithCalls } from "@/server/tools/sandbox/sandbox";
import type { Clock } from "./durable/clock";
import type { TurnRecord } from "./durable/embedded-contract";
import { Host } from "./lifecycle/host";
import type { RemoteEngine } from "./lifecycle/remote-engine";

/** Models for tests: `answer` says what each call gives; a thrown error is the call's failure. */
export function fakeModels(
  answer: (request: ModelRequest, signal: AbortSignal) => Promise<string> | string,
): Models & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async complete(request, io): Promise<ModelAnswer> {
      requests.push(request);
      const content = await answer(request, io.signal);
      io.delta("content", 0, content);
      return {
        content,
        finish_reason: "stop",
        provider: "Fake",
        provider_id: "fake",
        model: "fake-1",
        simulated: true,
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          cached_input_tokens: 0,
          reasoning_tokens: 0,
          requests: 1,
          estimated: false,
        },
        cost_usd: 0.001,
        cost_source: "simulated",
        latency_ms: 1,
        ttft_ms: 1,
        response_format: "text",
      };
    },
    describe: () => ({
      provider_id: "fake",
      name: "Fake",
      model: "fake-1",
      simulated: true,
      price_known: true,
    }),
  };
}

export const role = (name: string): RoleDefinition => RoleDefinition.parse({ name });

/** Tools for tests: each with its function, run as they are in a real run. */
export function fakeTools(
  tools: readonly ToolInterface[],
  forget: Parameters<typeof newToolHost>[0]["forget"] = () => {},
  roleNow?: Parameters<typeof newToolHost>[0]["role"],
): ToolHost & { calls: string[] } {
  const registry = new ToolsRegistry();
  const calls: string[] = [];
  for (const tool of tools) registry.register(tool);
  const host = newToolHost({
    registry,
    forget,
    ...defined({ role: roleNow }),
    keep: (_run, key) => `art_${key.length}`,
    matches: async (pattern, text) => (text.includes(pattern) ? null : `It does not match ${pattern}.`),
    runCode: (program, signal) => runWithCalls(program, { signal }),
  });
  return {
    ...host,
    calls,
    invoke(name, args, scope) {
      // A crew's plan.json is the run's own doing.
      if (scope.agent || name !== "file_write" || !isPlanFile(args.path))
        calls.push(`${scope.agent?.agent_id ?? "-"} ${name} ${JSON.stringify(args)}`);
      return host.invoke(name, args, scope);
    },
  };
}

/** A new process on what the last one has written at this moment, in a file of its own; the last one does nothing more. */
export async function killed(
  stage: ReturnType<typeof newStage>,
  file: string,
  options: Parameters<typeof newStage>[0],
): Promise<ReturnType<typeof newStage>> {
  stage.db.$client.exec(`vacuum into '${file}'`);
  await stage.host.drain(0);
  const next = newStage({ ...options, db: openDb(file) });
  next.host.recover();
  return next;
}

/** A copy of a stage's run as it was after that many turns, as a crash would leave it. */
export function cutAt(source: { db: Db }, id: string, turns: number): Db {
  const db = emptyDb();
  for (const table of ["runs", "run_turns", "run_timers", "run_signals"]) {
    const rows = source.db.$client.prepare<[], Record<string, unknown>>(`select * from ${table}`).all();
    for (const row of rows) {
      if (table === "run_turns" && Number(row.turn) >= turns) continue;
      const keys = Object.keys(row);
      db.$client
        .prepare(`insert into ${table} (${keys.join(",")}) values (${keys.map(() => "?").join(",")})`)
        .run(...keys.map((key) => row[key]));
    }
  }
  endAt(db, id, turns);
  return db;
}

/** Makes a run that was cut after some turns as a crash would have left it. */
export function endAt(db: Db, id: string, turns: number): void {
  const { turn, chain } = db.$client
    .prepare<[string], { turn: number; chain: Buffer }>(
      "select turn, chain from run_turns where run_id = ? order by turn desc limit 1",
    )
    .get(id)!;
  db.$client
    .prepare("update runs set status = ?, final_status = null, last_turn = ?, log_hash = ? where id = ?")
    .run(turns <= 1 ? "queued" : "running", turn, lastOf(chain), id);
}

interface StartOptions {
  input?: JsonObject;
  config?: Partial<RunConfig>;
  roles?: readonly RoleDefinition[];
  key?: string;
  workflow?: string;
  installation?: InstallationRules;
  /** What is known at the start of how much models read. */
  windows?: Record<string, number>;
  /** Somebody agrees to whatever is asked. */
  agrees?: boolean;
  /** The workflows that the graph runs, by id. */
  workflows?: Record<string, WorkflowGraph>;
  origin?: StartedBy;
}

/** A server in miniature: a database in memory and a host on it. */
export function newStage(
  options: {
    models?: Models;
    tools?: ToolHost;
    db?: Db;
    maxRuns?: number;
    /** Runs that the last process computed when it crashed. */
    stopped?: string[];
    runningMarker?: RunningMarker;
    host?: Host;
    clock?: Clock;
    rules?: InstallationRules;
    people?: PeopleRules;
    remoteEngine?: RemoteEngine;
    redact?: <T>(value: T) => T;
  } = {},
) {
  const db = options.db ?? emptyDb();
  const store = newRunStore(db);
  const host =
    options.host ??
    new Host({
      store,
      effects: {
        models: options.models ?? fakeModels(() => "done"),
        ...defined({ tools: options.tools }),
      },
      ...defined({
        clock: options.clock,
        rules: options.rules,
        people: options.people,
        remoteEngine: options.remoteEngine,
        redact: options.redact,
      }),
      crashed: true,
      runningMarker: options.runningMarker ?? {
        last: () => options.stopped ?? [],
        note: () => {},
        clear: () => {},
        close: () => {},
      },
      ...defined({ maxRuns: options.maxRuns || undefined }),
    });
  const stage = {
    db,
    store,
    host,
    start(graph: WorkflowGraph, more: StartOptions = {}): string {
      return host.start({
        workflow_id: more.workflow ?? "wf_test",
        workflow_name: "Test",
        graph,
        roles: [...(more.roles ?? [])],
        input: more.input ?? {},
        config: RunConfig.parse({ ...graph.config, ...more.config }),
        trigger: "test",
        provider_summary: null,
        ...defined({
          idempotency_key: more.key || undefined,
          installation: more.installation,
          context_windows: more.windows,
          workflows: more.workflows && calledWorkflowsOf(more),
          origin: more.origin,
        }),
      }).run_id;
    },
    /** Starts a run and waits until it has left the process. */
    async run(graph: WorkflowGraph, more: StartOptions = {}) {
      const id: string = stage.start(graph, more);
      if (more.agrees) await agree(host, id);
      await host.settled(id);
      return { id, events: store.events(id, 0, 1e6), state: store.state(id)! };
    },
  };
  return stage;
}

const calledWorkflowsOf = ({ workflows = {}, roles = [] }: StartOptions) =>
  Object.fromEntries(
    Object.entries(workflows).map(([id, graph]) => [
      id,
      { name: id, graph, roles: [...roles], provider_summary: null },
    ]),
  );

/** Agrees to everything that a run asks, until it has ended. */
async function agree(host: Host, id: string): Promise<void> {
  for await (const frame of host.follow(id, 0)) {
    if (frame.kind !== "events") continue;
    for (const event of frame.events) {
      if (event.type !== "interaction_requested") continue;
      const { interaction_id, fingerprint } = event.payload;
      const read = readAnswer(event.payload, { answer: "approve" });
      if (read.ok) host.steering.answer(id, interaction_id, fingerprint, { ...read.answer, by: "ann" });
    }
  }
}

/** Events without what differs between runs. */
export const eventLines = (events: readonly RunEvent[]) =>
  events.map(({ type, node_id, activation_id }) =>
    [type, activation_id ?? node_id].filter(Boolean).join(" "),
  );

/** The first turn of a run, in which nothing happens. */
export const emptyTurn = (runId: string): TurnRecord => ({
  runId,
  turn: 1,
  key: null,
  result: null,
  at: 1,
  lastSeq: 1,
  inlined: 0,
  events: [],
  texts: [],
  touchesWorld: false,
  wakeAt: null,
  timers: [],
});
