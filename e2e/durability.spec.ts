import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "@playwright/test";
import Database from "better-sqlite3";
import type { RunEvent } from "@/server/domain/run/events";
import { sized } from "@/server/testing/thorough";
import { startModelServer } from "./support/model-server";
import { freePort, TroupeProcess } from "./support/troupe-process";

const KILLS = Number(process.env.TROUPE_KILLS ?? sized(2, 20));
const RUNS_AT_ONCE = 3;

interface RunView {
  status: string;
  final_status: string | null;
  output: unknown;
  last_seq: number;
  error: unknown;
}

/** Twelve nodes and more: parallel branches, a crew, a wait, a loop and a router. Each call's prompt says which it is. */
function workflowFile() {
  const agent = (id: string, keys: string[], output: string) => ({
    id,
    name: id,
    node_type: "agent_task",
    config: {
      required_role: "Worker",
      task_description_template: `STEP ${id} OF {{user_request}} ROUND {{rounds}} GIVES ${output}`,
    },
    input_keys: ["user_request", "rounds", ...keys],
    output_keys: [output],
  });
  const nodes = [
    { id: "begin", name: "begin", node_type: "start", output_keys: ["user_request"], config: {} },
    agent("intake", [], "topic"),
    agent("left", ["topic"], "left_notes"),
    agent("right", ["topic"], "right_notes"),
    {
      id: "team",
      name: "team",
      node_type: "crew_task",
      input_keys: ["user_request", "left_notes", "right_notes"],
      output_keys: ["crew_result"],
      config: {
        plan_description_template: "Crew work for {{user_request}}",
        crew: {
          process: "parallel",
          agents: [
            { agent_id: "ann", role_name: "Worker" },
            { agent_id: "ben", role_name: "Worker" },
          ],
        },
        plan: {
          tasks: [
            { task_id: "one", description: "STEP team_one GIVES answer", assigned_agent: "ann" },
            { task_id: "two", description: "STEP team_two GIVES answer", assigned_agent: "ben" },
            {
              task_id: "three",
              description: "STEP team_three GIVES answer",
              assigned_agent: "ann",
              dependencies: ["one", "two"],
            },
          ],
        },
      },
    },
    { id: "pause", name: "pause", node_type: "wait", config: { ms: 250 } },
    agent("draft", [], "text"),
    {
      id: "count",
      name: "count",
      node_type: "transform",
      config: { set: { rounds: "state.rounds + 1" } },
      input_keys: ["rounds"],
      output_keys: ["rounds"],
    },
    {
      id: "again",
      name: "again",
      node_type: "conditional_router",
      input_keys: ["rounds"],
      config: {
        kind: "expression",
        conditions: [{ label: "more", when: "state.rounds < 3" }],
        default_label: "enough",
      },
    },
    {
      id: "route",
      name: "route",
      node_type: "conditional_router",
      input_keys: ["topic"],
      config: {
        kind: "expression",
        conditions: [{ label: "publish", when: 'state.topic == "topic"' }],
        default_label: "archive",
      },
    },
    agent("publish", ["text"], "published"),
    {
      id: "archive",
      name: "archive",
      node_type: "transform",
      config: { set: { published: '"archived"' } },
      output_keys: ["published"],
    },
    {
      id: "finish",
      name: "finish",
      node_type: "end",
      input_keys: ["topic", "left_notes", "right_notes", "crew_result", "text", "rounds", "published"],
    },
  ];
  const links: [string, string, string?][] = [
    ["begin", "intake"],
    ["intake", "left"],
    ["intake", "right"],
    ["left", "team"],
    ["right", "team"],
    ["team", "pause"],
    ["pause", "draft"],
    ["draft", "count"],
    ["count", "again"],
    ["again", "draft", "more"],
    ["again", "route", "enough"],
    ["route", "publish", "publish"],
    ["route", "archive", "archive"],
    ["publish", "finish"],
    ["archive", "finish"],
  ];
  return {
    graph_id: "durability",
    description: "What a crash must not disturb",
    start_node_id: "begin",
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    edges: links.map(([source_node_id, target_node_id, edge_label], at) => ({
      id: `e${at}`,
      source_node_id,
      target_node_id,
      ...(edge_label ? { edge_label } : {}),
    })),
    global_state_schema: { type: "object", properties: { rounds: { type: "number", default: 0 } } },
  };
}

/** A run that only waits, for an hour. */
const waitingFile = {
  graph_id: "patience",
  nodes: {
    begin: { id: "begin", node_type: "start", output_keys: [], config: {} },
    hour: { id: "hour", node_type: "wait", config: { ms: 3_600_000 } },
    finish: { id: "finish", node_type: "end" },
  },
  edges: [
    { id: "a", source_node_id: "begin", target_node_id: "hour" },
    { id: "b", source_node_id: "hour", target_node_id: "finish" },
  ],
};

const role = { name: "Worker", description: "Does one step." };

/** Answers depend on the step alone, so that every run must end with the same output. */
function answerTo(text: string): string {
  const [, , key] = [...text.matchAll(/STEP (\w+)[^\n]*? GIVES (\w+)/g)].at(-1) ?? [];
  return key === "topic" ? key : `${key === "answer" ? stepOf(text) : key} finished`;
}
const stepOf = (text: string) => [...text.matchAll(/STEP (\w+)/g)].at(-1)?.[1] ?? "";

/** Which step of which run a call is for: run, step, round. */
const stepKey = (text: string) =>
  [
    /(?:run-\d+-|calm)/.exec(text)?.[0] ?? "?",
    stepOf(text),
    [...text.matchAll(/ROUND (?:<\w+>)?(\d+)/g)].at(-1)?.[1] ?? "0",
  ].join(" ");

type Row = Record<string, string | number | null>;

/** The database as the crash left it: a copy is opened, so that the recovery stays the server's own business. */
function readDatabase(file: string) {
  const copy = path.join(mkdtempSync(path.join(os.tmpdir(), "troupe-look-")), "copy.db");
  for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  const db = new Database(copy);
  try {
    const turns = db.prepare("select run_id, events from run_turns order by run_id, turn").all() as Row[];
    const names = new Map<string, string>();
    const done: string[] = [];
    let running = 0;
    for (const { run_id, events } of turns)
      for (const event of JSON.parse(String(events)) as RunEvent[]) {
        if (event.type === "run_created")
          names.set(String(run_id), JSON.stringify(event.payload.input.user_request ?? "").slice(1, -1));
        if (event.type === "llm_call_started") running += 1;
        if (event.type === "llm_call_failed") running -= 1;
        if (event.type !== "llm_call_completed") continue;
        running -= 1;
        const round = event.node_id === "draft" ? Number(event.activation_id?.split("#")[1]) - 1 : 0;
        done.push(
          [names.get(String(run_id)), event.task_id ? `team_${event.task_id}` : event.node_id, round].join(
            " ",
          ),
        );
      }
    const lasts = db.prepare("select run_id, max(last_seq) as seq from run_turns group by run_id").all();
    return {
      lastSeqs: new Map((lasts as Row[]).map(({ run_id, seq }) => [String(run_id), Number(seq)])),
      integrity: db.pragma("integrity_check", { simple: true }),
      done,
      running,
      timers: db.prepare("select run_id, due_at from run_timers").all() as {
        run_id: string;
        due_at: number;
      }[],
    };
  } finally {
    db.close();
    rmSync(path.dirname(copy), { recursive: true });
  }
}

/** Reads what is new of a run, and remembers it: what was shown once must be there for ever. */
async function acknowledge(server: TroupeProcess, run: string, seen: Map<string, Map<number, RunEvent>>) {
  const known = seen.get(run) ?? new Map<number, RunEvent>();
  seen.set(run, known);
  for (const event of await eventsOf(server, run, known.size)) known.set(event.seq, event);
}

async function eventsOf(server: TroupeProcess, run: string, after = 0): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for (;;) {
    const { events } = await server.call<{ events: RunEvent[] }>(
      "GET",
      `/runs/${run}/events?after=${after + all.length}`,
    );
    if (events.length === 0) return all;
    all.push(...events);
  }
}

/** Waits until a run has more events than the last process wrote. */
async function continued(server: TroupeProcess, run: string, lastSeq: number) {
  await expect
    .poll(
      async () => {
        const { last_seq, final_status } = await server.call<RunView>("GET", `/runs/${run}`);
        return final_status !== null || last_seq > lastSeq;
      },
      { intervals: [10, 20], timeout: 5_000 },
    )
    .toBe(true);
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** The role may be there already. */
async function ignoreConflict(call: Promise<unknown>) {
  await call.catch((error: unknown) => {
    if (!String(error).includes("409")) throw error;
  });
}

test("a server that is killed repeatedly loses nothing and repeats nothing", async () => {
  test.setTimeout(300_000);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "troupe-kill-"));
  const model = await startModelServer(answerTo, () => 40 + Math.random() * 120);
  const server = new TroupeProcess(dataDir, await freePort(), "durability-token-of-this-test", {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "key-of-the-test",
    OPENAI_MODEL: "test-model",
  });
  try {
    await server.start();
    await ignoreConflict(server.call("POST", "/roles", role));
    const { id: workflow } = await server.call<{ id: string }>("POST", "/workflows", workflowFile());
    const { id: patience } = await server.call<{ id: string }>("POST", "/workflows", waitingFile);
    const startRun = async (of: string, name: string) =>
      (
        await server.call<{ run_id: string }>("POST", `/workflows/${of}/runs`, {
          input: of === patience ? {} : { user_request: name },
        })
      ).run_id;
    const finished = (run: string) =>
      expect.poll(async () => (await server.call<RunView>("GET", `/runs/${run}`)).final_status, {
        timeout: 30_000,
        intervals: [50, 100],
      });

    // What an undisturbed run gives.
    const calm = await startRun(workflow, "calm");
    await finished(calm).toBe("COMPLETED");
    const { output: wanted } = await server.call<RunView>("GET", `/runs/${calm}`);
    expect(wanted).toMatchObject({ published: "published finished", rounds: 3 });
    const calmCalls = model.calls.length;
    expect(calmCalls).toBe(10);

    const waiting = await startRun(patience, "");
    const runs: string[] = [];
    const seen = new Map<string, Map<number, RunEvent>>();
    const due = new Set<number>();
    const readyMs: number[] = [];
    /** From the first answer after a kill until every run has continued. */
    const continuedMs: number[] = [];
    /** Steps that were recorded as done, with the number of calls that had arrived by then. */
    const recorded = new Map<string, number>();
    let inFlight = 0;

    for (let kill = 0; kill < KILLS; kill++) {
      const open: string[] = [];
      for (const run of runs) {
        const { final_status } = await server.call<RunView>("GET", `/runs/${run}`);
        if (!final_status) open.push(run);
      }
      while (open.length < RUNS_AT_ONCE) {
        // The answer with the run's id is the promise that is being tested.
        const run = await startRun(workflow, `run-${runs.length}-`);
        runs.push(run);
        open.push(run);
      }
      const until = Date.now() + 150 + Math.random() * 900;
      while (Date.now() < until) for (const run of open) await acknowledge(server, run, seen);
      await server.kill();

      const { integrity, done, timers, running, lastSeqs } = readDatabase(path.join(dataDir, "troupe.db"));
      expect(integrity).toBe("ok");
      for (const step of done) if (!recorded.has(step)) recorded.set(step, model.calls.length);
      for (const timer of timers.filter(({ run_id }) => run_id === waiting)) due.add(timer.due_at);
      inFlight += running;
      readyMs.push(await server.start());
      const began = Date.now();
      for (const run of open) await continued(server, run, lastSeqs.get(run) ?? 0);
      continuedMs.push(Date.now() - began);
    }

    for (const run of runs) await finished(run).toBe("COMPLETED");

    for (const run of runs) {
      const { output } = await server.call<RunView>("GET", `/runs/${run}`);
      expect(output, "the same output as undisturbed").toEqual(wanted);
      const events = await eventsOf(server, run);
      expect(
        events.map(({ seq }) => seq),
        "no gap in the log",
      ).toEqual(events.map((_, at) => at + 1));
      for (const [seq, event] of seen.get(run) ?? [])
        expect(events[seq - 1], "what was shown is still there").toEqual(event);
      for (const type of ["node_completed", "node_started"] as const) {
        const times = countBy(
          events.filter((event) => event.type === type).map(({ activation_id }) => activation_id ?? ""),
        );
        expect(
          Object.values(times).every((n) => n === 1),
          `${type} once per activation`,
        ).toBe(true);
      }
      const calls = countBy(
        events.filter(({ type }) => type === "llm_call_completed").map(({ call_id }) => call_id ?? ""),
      );
      expect(
        Object.values(calls).every((n) => n === 1),
        "one answer per call",
      ).toBe(true);
    }

    // What was recorded as done was never asked for again.
    const repeated = [...recorded].filter(([step, after]) =>
      model.calls.slice(after).some((call) => stepKey(call.text) === step),
    );
    expect(repeated).toEqual([]);
    // Calls beyond one per step are those that a kill cut off.
    const extra = model.calls.length - calmCalls * (runs.length + 1);
    expect(extra).toBeLessThanOrEqual(inFlight);

    const stillWaiting = await server.call<RunView>("GET", `/runs/${waiting}`);
    expect(stillWaiting.final_status).toBeNull();
    expect(stillWaiting.status).toBe("waiting");
    expect(due.size, "its timer was never moved").toBe(1);

    const median = readyMs.sort((a, b) => a - b)[readyMs.length >> 1]!;
    const figures = `${KILLS} kills, ${runs.length} runs, ready again after ${median} ms (median), ${Math.max(...readyMs)} ms at most; every run continued ${Math.max(...continuedMs)} ms later at most; ${extra} calls cut off and asked again`;
    console.log(`    ${figures}`);
  } finally {
    await server.kill();
    await model.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
