import { expect, test } from "vitest";
import type { RunState } from "@/server/domain/run";
import type { RunCommand } from "@/server/domain/run/commands/command";
import type { RunEvent } from "@/server/domain/run/events";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newScratchTools } from "@/server/scratch-tools";
import type { TestParts } from "../scenario/answering";
import { testOfRun, verifyKept } from "../scenario/keep-run";
import { runTest } from "../scenario/run-test";
import { cutAt, endAt, fakeModels, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;

const ask = (text: string, more: object = {}) => ({
  node_type: "agent_task" as const,
  config: { required_role: "Worker", task_description_template: text },
  ...more,
});
/** A way that hangs on the state, with an agent on each of both. */
const twoBranches = draw("start > set > r; r left> a > end; r right> b > end", {
  set: { output_keys: ["r"], config: { set: { r: "'left'" } } },
  a: ask("Go left"),
  b: ask("Go right"),
});
/** Two agents one after the other, the second of whom a third stands beside. */
const line = draw("start > a > b > end; start > c > end", {
  a: ask("First", { output_keys: ["a"] }),
  b: ask("Second", { output_keys: ["b"] }),
  c: ask("Beside", { output_keys: ["c"] }),
});

const roles = [role("Worker")];
/** Says what it was told. */
const models = fakeModels(({ messages }) =>
  messages.some(({ content }) => content.includes("in blue")) ? "blue" : "black",
);
const sendCommand = (stage: Stage, id: string, command: RunCommand) =>
  stage.host.steering.command(id, command, "ann");
const isPaused = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("paused");
const isOver = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("finished");

/** What a run came to, without its times. */
const result = ({ run, state, nodes, outputs }: RunState) => ({
  status: run.final_status,
  reason: run.reason_code,
  warnings: run.warnings,
  output: run.output,
  state,
  nodes: Object.fromEntries(Object.entries(nodes).map(([id, { status, count }]) => [id, { status, count }])),
  outputs,
});

const DOINGS: ReadonlySet<RunEvent["type"]> = new Set([
  "run_paused",
  "run_continued",
  "state_edited",
  "node_skipped_by",
  "instruction_injected",
  "next_overridden",
  "run_limit_raised",
  "signal_received",
  "run_cancel_requested",
]);
/** What people did in a run, and who. */
const doings = (stage: Stage, id: string) =>
  stage.store
    .events(id, 0, 1e6)
    .flatMap(({ type, payload }) => (DOINGS.has(type) ? [[type, "by" in payload ? payload.by : ""]] : []));

/** Replays a run on a server that has no model, and holds the replay against it. */
async function replayed(stage: Stage, id: string) {
  const models = fakeModels(() => "made anew");
  const now = newStage({ db: stage.db, models });
  const { run_id } = now.host.fork({
    run_id: id,
    patches: {},
    graph: "original",
    by: "bob",
    trigger: "test",
    replay: "strict",
  });
  await isOver(now, run_id);
  await now.host.settled(run_id);
  expect(models.requests).toEqual([]);
  return { now, id: run_id, state: now.store.state(run_id)! };
}

/** Runs a drawing as `steer` steers it, and expects its replay to come to the same by the same. */
async function expectRepeated(
  graph: typeof line,
  config: Parameters<Stage["start"]>[1],
  steer: (stage: Stage, id: string) => Promise<unknown>,
) {
  const stage = newStage({ models });
  const id = stage.start(graph, { roles, ...config });
  await steer(stage, id);
  await isOver(stage, id);
  const replay = await replayed(stage, id);
  expect(result(replay.state)).toEqual(result(stage.store.state(id)!));
  expect(doings(replay.now, replay.id)).toEqual(doings(stage, id));
  return replay;
}

const steered: [
  string,
  typeof line,
  Parameters<Stage["start"]>[1],
  (stage: Stage, id: string) => Promise<unknown>,
][] = [
  [
    "changed the state at a breakpoint and so the route",
    twoBranches,
    { config: { breakpoints: [{ on: "node_start", node_id: "r" }] } },
    async (stage, id) => {
      await isPaused(stage, id);
      await sendCommand(stage, id, { kind: "edit_state", set: { r: "right" }, remove: [] });
      await sendCommand(stage, id, { kind: "resume" });
    },
  ],
  [
    "instructed an agent while a parallel agent was running",
    line,
    { config: { breakpoints: [{ on: "llm_call", node_id: "b" }] } },
    async (stage, id) => {
      await isPaused(stage, id);
      await sendCommand(stage, id, { kind: "inject", target: { node_id: "b" }, text: "Write in blue." });
      await sendCommand(stage, id, { kind: "resume" });
    },
  ],
  [
    "stepped to a node and gave it an output",
    line,
    { config: { mode: "step" } },
    async (stage, id) => {
      for (;;) {
        await expect.poll(() => stage.store.find(id)?.status).toMatch(/paused|finished/);
        const { run } = stage.store.state(id)!;
        if (run.status === "finished") return;
        if (run.paused_at?.node_id === "b")
          await sendCommand(stage, id, { kind: "skip_node", activation_id: "b#1", output: { b: "given" } });
        await sendCommand(stage, id, { kind: "step", granularity: "node" });
      }
    },
  ],
  [
    "chose the next node",
    draw("start > a > b > end; a > c > end", { a: ask("First") }),
    { config: { breakpoints: [{ on: "node_start", node_id: "a" }] } },
    async (stage, id) => {
      await isPaused(stage, id);
      await sendCommand(stage, id, { kind: "override_next", activation_id: "a#1", to: "c" });
      await sendCommand(stage, id, { kind: "resume" });
    },
  ],
  [
    "raised the limit at which it had stopped",
    line,
    { config: { max_steps: 2, on_limit: "stop" } },
    async (stage, id) => {
      await isOver(stage, id);
      void stage.host.steering.raiseLimit(id, "max_steps", 50, "ann");
      await expect.poll(() => stage.store.find(id)?.final_status).toBe("COMPLETED");
    },
  ],
  [
    "cancelled it",
    line,
    { config: { breakpoints: [{ on: "node_start", node_id: "b" }] } },
    async (stage, id) => {
      await isPaused(stage, id);
      stage.host.cancel(id, { by: "ann", reason: "Enough." });
    },
  ],
];

test.each(steered)(
  "a replay of a run in which a person %s repeats that and ends the same",
  async (_, graph, config, steer) => {
    await expectRepeated(graph, config, steer);
  },
);

test.each(steered)(
  "a test kept from a run in which a person %s repeats that and passes",
  async (_, graph, config, steer) => {
    const stage = newStage({ models });
    const id = stage.start(graph, { roles, ...config });
    await steer(stage, id);
    await isOver(stage, id);
    const made = ScenarioTest.parse(
      JSON.parse(JSON.stringify({ id: "kept", ...testOfRun(id, stage.store.journal(id), "Kept") })),
    );
    const nothing = { ...models, complete: () => Promise.reject(new Error("A test asks nobody.")) };
    const parts: TestParts = {
      models: nothing,
      demoModels: () => nothing,
      tools: newScratchTools(() => 0).host,
      scratchTools: newScratchTools,
    };
    const tested = { name: "Test", graph, roles };
    const { test: kept, notes } = await verifyKept(tested, made, stage.store.events(id, 0, 1e6), parts);
    expect(notes).toEqual([]);
    expect(kept.expect.length).toBeGreaterThan(2);
    const report = await runTest(tested, kept, parts);
    expect([report.status, report.sentence]).toEqual([
      "passed",
      expect.stringMatching(/expectations passed/),
    ]);
    // Without what the person did it is another run.
    const { commands, ...without } = kept;
    expect(commands?.length).toBeGreaterThan(0);
    expect((await runTest(tested, without, parts)).status).toBe("failed");
  },
);

test("a test reports a command whose place the workflow no longer reaches", async () => {
  const stage = newStage({ models });
  const [, graph, config, steer] = steered[0]!;
  const id = stage.start(graph, { roles, ...config });
  await steer(stage, id);
  await isOver(stage, id);
  const made = ScenarioTest.parse({ id: "kept", ...testOfRun(id, stage.store.journal(id), "Kept") });
  const { breakpoints: _, ...unheld } = made.config ?? {};
  const parts: TestParts = {
    models,
    demoModels: () => models,
    tools: newScratchTools(() => 0).host,
    scratchTools: newScratchTools,
  };
  const { answers: _a, ...fields } = made;
  const report = await runTest(
    { name: "Test", graph, roles },
    { ...fields, simulated: true, config: unheld, expect: [] },
    parts,
  );
  expect([report.status, report.sentence]).toEqual([
    "failed",
    "In the original run, a person edited the state at a point this run didn't reach, so this wasn't repeated.",
  ]);
});

test("a replay with repeated commands resumes after a crash at any turn and ends the same", async () => {
  const [, graph, config, steer] = steered[0]!;
  const { now, id, state } = await expectRepeated(graph, config, steer);
  const { turns } = now.store.journal(id);
  for (let kept = 2; kept < turns.length; kept++) {
    // The original stays whole.
    const db = cutAt(now, id, 1e6);
    db.$client.prepare("delete from run_turns where run_id = ? and turn >= ?").run(id, kept);
    endAt(db, id, kept);
    const again = newStage({ db });
    again.host.recover();
    await isOver(again, id);
    expect(result(again.store.state(id)!)).toEqual(result(state));
  }
});

test("a replay of a run that was only paused and resumed repeats nothing", async () => {
  const stage = newStage();
  const id = stage.start(line, { roles });
  await sendCommand(stage, id, { kind: "pause" });
  await sendCommand(stage, id, { kind: "resume" });
  await isOver(stage, id);
  const { state } = await replayed(stage, id);
  expect([state.run.final_status, state.run.warnings]).toEqual(["COMPLETED", []]);
});
