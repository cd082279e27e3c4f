import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { withoutRunFacts } from "@/server/domain/agent/prompt";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { RunState } from "@/server/domain/run";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { sized } from "@/server/testing/thorough";
import { defineTool } from "@/server/tools/define";
import { cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import { cutAt, fakeModels, fakeTools, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;

/** A loop that counts state.n up to 4 and then goes to its end. */
const counting = () =>
  draw("start > inc > r; r again> inc; r done> end", {
    inc: {
      output_keys: ["n", "r"],
      config: {
        set: {
          n: "('n' in state ? state.n : 0) + 1",
          r: "('n' in state ? state.n : 0) < 3 ? 'again' : 'done'",
        },
      },
    },
  });

const sendCommand = async (stage: Stage, id: string, command: RunCommand) => {
  const { heard } = await stage.host.steering.command(id, command, "ann");
  return heard === "ended" ? null : heard;
};
const stateOf = (stage: Stage, id: string): RunState => stage.store.state(id)!;
const statusOf = (stage: Stage, id: string) => stage.store.find(id)!.status;
/** Waits until a run is paused or over; answers which. */
async function stood(stage: Stage, id: string) {
  for (;;) {
    const status = statusOf(stage, id);
    if (status === "paused" || status === "finished") return status;
    await pause(2);
  }
}
function where(stage: Stage, id: string) {
  const { paused_at } = stateOf(stage, id).run;
  return paused_at && [paused_at.reason, paused_at.point, paused_at.activation_id ?? ""];
}

/** What a run came to, without its times and where it was held. */
const result = ({ run, state, nodes, outputs, totals, edges, crews, plans }: RunState) => ({
  status: run.final_status,
  output: run.output,
  state,
  nodes: Object.fromEntries(Object.entries(nodes).map(([id, { status, count }]) => [id, { status, count }])),
  outputs,
  edges,
  steps: totals.steps,
  calls: totals.usage.requests,
  crews: Object.fromEntries(Object.entries(crews).map(([id, { status }]) => [id, status])),
  tasks: Object.values(plans).map(({ tasks }) =>
    tasks.map(({ task_id, status, output }) => [task_id, status, output]),
  ),
});

/** Lets a run go on as often as it is held; answers where it stood. */
async function goThrough(stage: Stage, id: string, command: RunCommand) {
  const stops: unknown[] = [];
  while ((await stood(stage, id)) === "paused") {
    stops.push(where(stage, id));
    await sendCommand(stage, id, command);
  }
  return stops;
}

test("a run in step mode stops before each node and ends with the same result", async () => {
  const graph = counting();
  const through = (await newStage().run(graph)).state;
  const stage = newStage();
  const id = stage.start(graph, { config: { mode: "step" } });
  const stops = await goThrough(stage, id, { kind: "step", granularity: "node" });
  expect(stops).toEqual(
    ["start#1", ...[1, 2, 3, 4].flatMap((k) => [`inc#${k}`, `r#${k}`]), "end#1"].map((node) => [
      "step",
      "node_start",
      node,
    ]),
  );
  expect(result(stateOf(stage, id))).toEqual(result(through));
});

test("stepping through parallel branches executes their nodes in turn", async () => {
  const graph = draw("start > a > b > j; start > w > j; j > end");
  const through = (await newStage().run(graph)).state;
  const stage = newStage();
  const id = stage.start(graph, { config: { mode: "step" } });
  const stops = await goThrough(stage, id, { kind: "step", granularity: "node" });
  expect(stops).toHaveLength(6);
  expect(result(stateOf(stage, id))).toEqual(result(through));
});

test("a run in step mode that is resumed runs to its end", async () => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { mode: "step" } });
  expect(await goThrough(stage, id, { kind: "resume" })).toEqual([["step", "node_start", "start#1"]]);
  expect(stateOf(stage, id).state.n).toBe(4);
});

test.each([
  ["a condition", { on: "node_start", node_id: "inc", condition: "state.n == 2" }, ["inc#3"]],
  [
    "a condition with a hit count",
    { on: "node_start", node_id: "inc", condition: "state.n == 2", hit_count: 1 },
    ["inc#3"],
  ],
  ["a hit count", { on: "node_start", node_id: "inc", hit_count: 3 }, ["inc#3", "inc#4"]],
  ["the end of a node", { on: "node_end", node_id: "inc", condition: "state.n >= 3" }, ["inc#3", "inc#4"]],
  ["a loop iteration", { on: "loop_iteration", condition: "state.n == 1" }, [""]],
  ["a state write", { on: "state_write", key: "n", condition: "state.n == 4" }, ["inc#4"]],
  ["an edge", { on: "edge", edge_id: "e3" }, ["r#4"]],
  ["a condition that can't be evaluated", { on: "node_start", condition: "state.n + 'x' == 'y'" }, []],
  ["a disabled breakpoint", { on: "node_start", enabled: false }, []],
] as const)("a breakpoint pauses a run only at its matches: %s", async (_by, breakpoint, stops) => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { breakpoints: [breakpoint] } });
  const stood = await goThrough(stage, id, { kind: "resume" });
  expect(stood).toEqual(stops.map((at) => ["breakpoint", breakpoint.on, at]));
  expect(stateOf(stage, id).state.n).toBe(4);
});

test("a breakpoint on a node pauses the run only in breakpoint mode", async () => {
  const graph = draw("start > a > b > end", { a: { breakpoint: "before" }, b: { breakpoint: "after" } });
  for (const [mode, stops] of [
    ["continuous", []],
    [
      "breakpoint",
      [
        ["breakpoint", "node_start", "a#1"],
        ["breakpoint", "node_end", "b#1"],
      ],
    ],
  ] as const) {
    const stage = newStage();
    const id = stage.start(graph, { config: { mode } });
    expect(await goThrough(stage, id, { kind: "resume" })).toEqual(stops);
  }
});

test("a run to a node stops there once in every mode, even if the node repeats", async () => {
  for (const mode of ["continuous", "breakpoint"] as const) {
    const stage = newStage();
    const id = stage.start(counting(), { config: { mode, stop_at: "inc" } });
    expect(await goThrough(stage, id, { kind: "resume" })).toEqual([["breakpoint", "node_start", "inc#1"]]);
    expect([stateOf(stage, id).state.n, stateOf(stage, id).run.breakpoints]).toEqual([4, []]);
  }
});

test("breakpoints of an active run can be set and removed", async () => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { mode: "step" } });
  await stood(stage, id);
  await sendCommand(stage, id, {
    kind: "set_breakpoints",
    breakpoints: [{ on: "node_start", node_id: "r" }],
  });
  await sendCommand(stage, id, { kind: "resume" });
  await stood(stage, id);
  expect(where(stage, id)).toEqual(["breakpoint", "node_start", "r#1"]);
  await sendCommand(stage, id, { kind: "set_breakpoints", breakpoints: [] });
  await sendCommand(stage, id, { kind: "resume" });
  expect(await stood(stage, id)).toBe("finished");
});

/** Pauses a run at its k-th model call, as a person would who saw it begin. */
function pausingAt(k: number, models: ReturnType<typeof modelsOf>, now = false) {
  let calls = 0;
  const paused: { stage?: Stage; id?: string } = {};
  return {
    paused,
    models: {
      ...models,
      async complete(...args: Parameters<typeof models.complete>) {
        if (++calls === k) await sendCommand(paused.stage!, paused.id!, { kind: "pause", now });
        args[1].signal.throwIfAborted();
        return models.complete(...args);
      },
    },
  };
}

for (const [name, one] of Object.entries(cases))
  test(`a crew that is paused at any call and resumed ends the same: ${name}`, async () => {
    const plain = modelsOf(one.answer);
    const through = (await newStage({ models: plain }).run(graphOf(one), { roles: crewRoles })).state;
    for (let k = 1; k <= plain.asked.length; k += sized(2, 1))
      for (const now of [false, true]) {
        const models = modelsOf(one.answer);
        const pausing = pausingAt(k, models, now);
        const stage = newStage({ models: pausing.models });
        const id = stage.start(graphOf(one), { roles: crewRoles });
        Object.assign(pausing.paused, { stage, id });
        expect(await goThrough(stage, id, { kind: "resume" })).toEqual([["person", "anywhere", ""]]);
        expect(result(stateOf(stage, id))).toEqual(result(through));
        // What was answered is not asked again; what was given up is.
        const [asked, inAll] = [models, plain].map((all) => all.asked.map(withoutRunFacts).toSorted());
        expect(now ? [...new Set(asked)] : asked).toEqual(now ? [...new Set(inAll)] : inAll);
      }
  });

for (const [name, one] of Object.entries(cases))
  test(`a crew that is stepped turn by turn ends the same: ${name}`, async () => {
    const through = (await newStage({ models: modelsOf(one.answer) }).run(graphOf(one), { roles: crewRoles }))
      .state;
    const stage = newStage({ models: modelsOf(one.answer) });
    const id = stage.start(graphOf(one), { roles: crewRoles, config: { mode: "step" } });
    const stops = await goThrough(stage, id, { kind: "step", granularity: "turn" });
    expect(stops.length).toBeGreaterThan(3);
    expect(result(stateOf(stage, id))).toEqual(result(through));
  });

test("a paused run survives a crash at any turn and continues from there", async () => {
  const first = newStage();
  const id = first.start(counting(), { config: { mode: "step" } });
  await goThrough(first, id, { kind: "step", granularity: "node" });
  const through = result(stateOf(first, id));
  const turns = first.store.journal(id).turns.length;
  for (let at = 2; at < turns; at++) {
    const db = cutAt(first, id, at);
    // Nobody had sent yet what came later.
    db.$client.exec(
      "delete from run_signals where name not in (select key from run_turns where key is not null)",
    );
    const stage = newStage({ db });
    stage.host.recover();
    await goThrough(stage, id, { kind: "step", granularity: "node" });
    expect(result(stateOf(stage, id))).toEqual(through);
  }
});

test("a paused run stays unloaded after a restart until it is resumed", async () => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { mode: "step" } });
  await stood(stage, id);
  const again = newStage({ db: stage.db });
  expect(again.host.recover()).toBe(1);
  await pause(20);
  expect([statusOf(again, id), again.host.live.isHere(id)]).toEqual(["paused", false]);
  await sendCommand(again, id, { kind: "resume" });
  expect(await stood(again, id)).toBe("finished");
  expect(stateOf(again, id).state.n).toBe(4);
});

test("a paused run can be cancelled", async () => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { mode: "step" } });
  await stood(stage, id);
  stage.host.cancel(id, { by: "ann", reason: "enough" });
  await expect.poll(() => statusOf(stage, id)).toBe("finished");
  expect(stateOf(stage, id).run).toMatchObject({ final_status: "CANCELLED" });
  expect(stateOf(stage, id).run.paused_at).toBeUndefined();
});

test("a command that arrives too late warns and changes nothing", async () => {
  const stage = newStage();
  const id = stage.start(counting(), { config: { mode: "step" } });
  await stood(stage, id);
  const events = await sendCommand(stage, id, { kind: "pause" });
  expect(events?.map(({ type, payload }) => [type, payload])).toEqual([
    ["warning", { code: "COMMAND_TOO_LATE", message: "This run is already paused." }],
  ]);
});

test("human-in-the-loop mode doesn't stop before a model call", async () => {
  const stage = newStage({ models: fakeModels(() => "done") });
  const ask = {
    node_type: "agent_task",
    config: { required_role: "Worker", task_description_template: "Do it." },
  };
  const id = stage.start(draw("start > ask > end", { ask }), {
    roles: [role("Worker")],
    config: { mode: "hitl" },
  });
  expect(await goThrough(stage, id, { kind: "resume" })).toEqual([]);
});

test.each([
  ["a read-only call is abandoned and repeated", true, 2],
  ["a call with side effects finishes and is not repeated", false, 1],
] as const)("an immediate pause with a tool call in flight: %s", async (_how, read_only, calls) => {
  let made = 0;
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    read_only,
    async execute(_input, { signal }) {
      if (++made === 1) {
        void sendCommand(stage, id, { kind: "pause", now: true });
        await pause(60, undefined, { signal });
      }
      return "seen";
    },
  });
  const models = newScriptedModels([
    { tool_calls: [{ id: "c1", tool_name: "look", args: {} }] },
    { text: "done" },
  ]);
  const stage: Stage = newStage({ models, tools: fakeTools([look]) });
  const ask = { config: { required_role: "Worker", task_description_template: "Do it." } };
  const id: string = stage.start(draw("start > ask > end", { ask: { node_type: "agent_task", ...ask } }), {
    roles: [RoleDefinition.parse({ name: "Worker", tools: ["look"] })],
  });
  await goThrough(stage, id, { kind: "resume" });
  expect([stateOf(stage, id).run.final_status, made]).toEqual(["COMPLETED", calls]);
});
