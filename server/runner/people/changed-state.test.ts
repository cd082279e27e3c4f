import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { ModelRequest } from "@/server/llm/model";
import { sized } from "@/server/testing/thorough";
import { cutAt, fakeModels, newStage, role } from "../testing";

/*
 * A person changes a value, in a fork or in a paused run. Whoever has not asked anybody yet reads the new one; whoever has
 * keeps the old one, and that is said. So what was seen, the result and the state never contradict one another unsaid.
 */

type Stage = ReturnType<typeof newStage>;
const roles = [role("Worker")];
const ask = (template: string, output: string): JsonObject => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: template },
  output_keys: [output],
});

/** a writes y; c asks about it, and t about it and what c said. */
const chain = draw("start > a > b > c > t > end", {
  a: { config: { set: { y: "'first'" } }, output_keys: ["y"] },
  b: ask("Look around", "x"),
  c: { ...ask("c: y is {{y}}", "z"), input_keys: ["y"] },
  t: { ...ask("t: y is {{y}} and z {{z}}", "w"), input_keys: ["y", "z"] },
});
/** In parallel to c, d and e ask. */
const parallel = draw("start > a > c > t > end; a > d > e > end", {
  a: { config: { set: { y: "'first'" } }, output_keys: ["y"] },
  c: { ...ask("c: y is {{y}}", "z"), input_keys: ["y"] },
  d: ask("Look around", "x"),
  e: ask("Look again", "v"),
  t: { ...ask("t: y is {{y}} and z {{z}}", "w"), input_keys: ["y", "z"] },
});
const asksFirst = draw("start > a > g > c > t > end", {
  a: { config: { set: { y: "'first'" } }, output_keys: ["y"] },
  g: {
    node_type: "approval_gate",
    config: { title: "Is {{y}} right?", options: ["approved"] },
    input_keys: ["y"],
    output_keys: ["g"],
  },
  c: { ...ask("c: y is {{y}}", "z"), input_keys: ["y"] },
  t: { ...ask("t: y is {{y}} and z {{z}}", "w"), input_keys: ["y", "z"] },
});

const promptText = ({ messages }: ModelRequest) => messages.map(({ content }) => content).join("\n");
const seenBy = (who: string, text: string) => new RegExp(`${who}: y is (\\w+)`).exec(text)?.[1];
/** Says what it was asked, so that outputs tell what was read. */
const newModels = () =>
  fakeModels((request) => {
    const [, who, y] = /([ct]): y is <y>(\w+)<\/y>/.exec(promptText(request)) ?? [];
    return y === undefined ? "nothing" : `${who}: y is ${y}`;
  });

/** Answers gates until the run has ended, or stands still. */
async function settle(stage: Stage, id: string) {
  for (;;) {
    const { status, waits_for } = stage.store.find(id)!;
    if (status === "finished" || status === "paused") break;
    if (waits_for === "person")
      for (const { id: question, status: now, requested } of Object.values(
        stage.store.state(id)!.interactions,
      ))
        if (now === "open")
          stage.host.steering.answer(id, question, requested.fingerprint, {
            answer: "chosen",
            option: "approved",
            by: "ann",
          } as never);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return stage.store.state(id)!;
}

/** Who read which y: as their answers say, which are made of what they were asked. */
function consistent(stage: Stage, id: string, warnings: readonly string[]) {
  const { state, run, outputs } = stage.store.state(id)!;
  expect(run.final_status).toBe("COMPLETED");
  const warningText = [...warnings, ...run.warnings.map((warning) => JSON.stringify(warning))].join("\n");
  for (const [who, key] of [
    ["c", "z"],
    ["t", "w"],
  ] as const) {
    const read = seenBy(who, JSON.stringify(state[key]));
    expect(read).toBeDefined();
    if (read !== state.y)
      expect([who, warningText]).toEqual([who, expect.stringContaining(`${who} read “y”`)]);
    else expect([who, warningText]).toEqual([who, expect.not.stringContaining(`${who} read “y”`)]);
  }
  expect(outputs.t?.output).toEqual({ w: state.w });
}

for (const [name, graph] of Object.entries({ chain, parallel, asksFirst })) {
  test(`a fork with changed state at any event stays consistent or warns: ${name}`, async () => {
    const models = newModels();
    const stage = newStage({ models });
    const original = stage.start(graph, { roles });
    await settle(stage, original);
    await stage.host.settled(original);
    const events = stage.store.events(original, 0, 1e6);
    for (const { seq, type, node_id } of events) {
      if (seq < 3 || seq % sized(3, 1) > 0) continue;
      const patches = { state: { set: { y: "changed" }, remove: [] } };
      const more = { patches, graph: "original", by: "ann", trigger: "test" } as const;
      const written = events.find(
        (event) => event.type === "state_patched" && Object.hasOwn(event.payload.set, "y"),
      )!;
      if (seq < written.seq) continue;
      const { run_id, at_seq, warnings = [] } = stage.host.fork({ run_id: original, at: { seq }, ...more });
      await settle(stage, run_id);
      await stage.host.settled(run_id);
      expect([seq, type, node_id, at_seq <= seq]).toEqual([seq, type, node_id, true]);
      consistent(stage, run_id, warnings);
    }
  });

  test(`a state change at any pause point stays consistent or warns: ${name}`, async () => {
    const places = [
      ...(["node_start", "node_end", "llm_call", "edge"] as const),
      ...(["state_write"] as const),
    ];
    for (const on of places)
      for (let hit = 1; hit <= sized(2, 12); hit++) {
        const models = newModels();
        const stage = newStage({ models });
        const breakpoints = [{ on, hit_count: hit, once: true }];
        const id = stage.start(graph, { roles, config: { mode: "breakpoint", breakpoints } as never });
        const { run, state } = await settle(stage, id);
        if (run.status === "finished") break;
        if (state.y !== undefined)
          await stage.host.steering.command(
            id,
            { kind: "edit_state", set: { y: "changed" }, remove: [] },
            "ann",
          );
        const warnings = stage.store.state(id)!.run.warnings.map((warning) => JSON.stringify(warning));
        while ((await settle(stage, id)).run.paused_at)
          await stage.host.steering.command(id, { kind: "resume" }, "ann");
        await stage.host.settled(id);
        if (state.y !== undefined) consistent(stage, id, warnings);
      }
  });
}

test("a change under a crew at work says that its members continue with the old value", async () => {
  const crew = {
    agents: [{ agent_id: "ann", role_name: "Worker" }],
    process: "sequential",
  };
  const tasks = ["first", "second"].map((task_id) => ({ task_id, description: `${task_id} part` }));
  const graph = draw("start > a > crew > end", {
    a: { config: { set: { y: "'first'" } }, output_keys: ["y"] },
    crew: {
      node_type: "crew_task",
      input_keys: ["y"],
      output_keys: ["z"],
      config: {
        plan_description_template: "Use {{y}}",
        crew,
        plan: { tasks: tasks.map((task) => ({ ...task, assigned_agent: "ann" })) },
      },
    },
  });
  const models = newModels();
  const stage = newStage({ models });
  const breakpoints = [{ on: "llm_call", node_id: "crew", hit_count: 2, once: true }];
  const id = stage.start(graph, { roles, config: { mode: "breakpoint", breakpoints } as never });
  await settle(stage, id);
  await stage.host.steering.command(id, { kind: "edit_state", set: { y: "changed" }, remove: [] }, "ann");
  await stage.host.steering.command(id, { kind: "resume" }, "ann");
  await stage.host.settled(id);
  const { run, activations } = stage.store.state(id)!;
  const seen = models.requests.map((request) => /Use (?:<y>)?(\w+)/.exec(promptText(request))?.[1]);
  expect(seen).toEqual(["first", "first"]);
  expect(activations["crew#1"]!.attempt).toBe(1);
  expect(run.warnings).toEqual([
    "crew read “y” before this change and keeps the old value. To change that, fork the run before crew.",
  ]);
});

test("a node that restarts after a state change resumes after a crash at any turn and ends the same", async () => {
  const stage = newStage({ models: newModels() });
  const breakpoints = [{ on: "llm_call", node_id: "c", once: true }];
  const id = stage.start(chain, { roles, config: { mode: "breakpoint", breakpoints } as never });
  await settle(stage, id);
  await stage.host.steering.command(id, { kind: "edit_state", set: { y: "changed" }, remove: [] }, "ann");
  await stage.host.steering.command(id, { kind: "resume" }, "ann");
  await stage.host.settled(id);
  const whole = stage.store.state(id)!;
  expect([whole.activations["c#1"]!.attempt, whole.state.z]).toEqual([2, "c: y is changed"]);
  const { turns } = stage.store.journal(id);
  const paused = turns.findIndex(({ events }) => events.some(({ type }) => type === "run_paused"));
  for (let kept = paused + 1; kept < turns.length; kept++) {
    const again = newStage({ db: cutAt(stage, id, kept), models: newModels() });
    again.host.recover();
    await again.host.settled(id);
    expect([kept, again.store.state(id)!.state]).toEqual([kept, whole.state]);
  }
});

test("a fork while a node is starting begins before the node and reports it", async () => {
  const stage = newStage({ models: newModels() });
  const { id, events } = await stage.run(chain, { roles });
  const at = (type: string, node_id: string) =>
    events.find((event) => event.type === type && event.node_id === node_id)!.seq;
  const patches = { state: { set: { y: "changed" }, remove: [] } };
  const fork = (seq: number) =>
    stage.host.fork({
      run_id: id,
      at: { seq },
      patches,
      graph: "original",
      by: "ann",
      trigger: "test",
    });
  for (let seq = at("node_started", "c"); seq <= at("llm_call_started", "c"); seq++)
    expect(fork(seq)).toEqual({ run_id: expect.any(String), at_seq: at("node_started", "c") - 1 });
  const later = fork(at("llm_call_completed", "c"));
  expect(later).toEqual({
    run_id: expect.any(String),
    at_seq: at("llm_call_completed", "c"),
    warnings: [
      "c read “y” before this change and keeps the old value. To change that, fork the run before c.",
    ],
  });
  await stage.host.settled(later.run_id);
});
