import { expect, test, vi } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { ScenarioTest as Test } from "@/server/domain/scenario/scenario-test";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import { newScratchTools } from "@/server/scratch-tools";
import { findTemplate } from "@/server/templates";
import { fakeTools } from "../testing";
import type { TestParts } from "./answering";
import { runTest } from "./run-test";

const parts: TestParts = {
  models: newDemoModels(),
  demoModels: newDemoModels,
  tools: fakeTools([]),
  scratchTools: newScratchTools,
};
const testOf = (more: object): Test => ScenarioTest.parse({ id: "one", name: "One", ...more });
const of = (graph: ReturnType<typeof draw>) => ({ name: "Drawn", graph, roles: builtinRoles });

test("a workflow without models is run and checked against its expectations", async () => {
  const report = await runTest(
    of(draw("start > w > end", { w: { config: { ms: 86_400_000 } } })),
    testOf({
      expect: [
        { kind: "status", is: "COMPLETED" },
        { kind: "path", nodes: ["start", "w", "end"], mode: "exactly" },
        { kind: "visits", node: "w", times: 2 },
      ],
    }),
    parts,
  );
  expect(report).toEqual({
    test_id: "one",
    name: "One",
    status: "failed",
    sentence: "Expected w to run twice, but it ran once.",
    problems: [],
    outcome: {
      final_status: "COMPLETED",
      reason_code: "END_REACHED",
      error: null,
      path: ["start", "w", "end"],
      tokens: 0,
      cost_usd: 0,
      duration_ms: 86_400_000,
      simulated: false,
      unused_answers: 0,
    },
    results: [
      {
        at: 0,
        expectation: { kind: "status", is: "COMPLETED" },
        status: "passed",
        sentence: "Finished as Completed.",
        expected: "COMPLETED",
        seen: "COMPLETED",
        seq: 17,
      },
      {
        at: 1,
        expectation: { kind: "path", nodes: ["start", "w", "end"], mode: "exactly" },
        status: "passed",
        sentence: "The path matched exactly, with 3 steps.",
        expected: ["start", "w", "end"],
        seen: ["start", "w", "end"],
      },
      {
        at: 2,
        expectation: { kind: "visits", node: "w", times: 2 },
        status: "failed",
        sentence: "Expected w to run twice, but it ran once.",
        expected: { times: 2 },
        seen: 1,
        node_id: "w",
        seq: 9,
      },
    ],
    question: null,
    missed: null,
    repeats: null,
  });
});

test("a template runs on the offline demo model with the same result each time", async () => {
  const template = findTemplate("approval")!;
  const one = testOf({
    input: { user_request: "Please approve my vacation for next week." },
    expect: [
      { kind: "status", is: "COMPLETED" },
      { kind: "text", key: "approval_status", equals: "approved" },
    ],
  });
  const reports = [
    await runTest(of(template.graph), one, parts),
    await runTest(of(template.graph), one, parts),
  ];
  expect(reports[1]).toEqual(reports[0]);
  expect(reports[0]).toMatchObject({ status: "passed", sentence: "All 2 expectations passed." });
});

test("a test with an unanswered question, model call, tool call or endless wait doesn't pass", async () => {
  const report = async (graph: ReturnType<typeof draw>, more: object = {}, models = parts.models) => {
    const { status, sentence, question, missed } = await runTest(of(graph), testOf(more), {
      ...parts,
      models,
    });
    return {
      status,
      sentence,
      question,
      missed: missed && { node_id: missed.node_id, sentence: missed.sentence },
    };
  };
  const gate = draw("start > gate; gate approved> end; gate rejected> end2", {
    gate: { node_type: "approval_gate", config: { title: "Send it?", options: ["approved", "rejected"] } },
  });
  const path = { kind: "path", nodes: ["start", "gate", "end2"], mode: "exactly" };
  expect(await report(gate)).toEqual({
    status: "failed",
    sentence: "gate asks a person “Send it?”, but this test has no answer for that question.",
    question: expect.objectContaining({
      node_id: "gate",
      title: "Send it?",
      options: ["approved", "rejected"],
    }),
    missed: null,
  });
  expect(await report(gate, { people: [{ answer: "rejected" }], expect: [path] })).toMatchObject({
    status: "passed",
  });
  expect(await report(gate, { people: [{ answer: "perhaps" }], expect: [path] })).toMatchObject({
    status: "failed",
    sentence: "The answer to “Send it?” is invalid: answer: Answer with one of: approved, rejected.",
  });

  const agent = draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      config: { required_role: "Researcher", task_description_template: "Do it." },
    },
  });
  const real = { ...parts.models, describe: () => null };
  expect(await report(agent, {}, real)).toMatchObject({
    status: "failed",
    missed: {
      node_id: "ask",
      sentence:
        "This test has no recorded answers, and tests call no real models by default. Save a run as a test, pin the node's output, or use the offline demo model. It calls a model, but no recorded call to a model is left.",
    },
  });
  expect(await report(agent, { simulated: true }, real)).toMatchObject({ status: "passed" });
  expect(await report(agent, { pins: { ask: { output: {} } } }, real)).toMatchObject({ status: "passed" });
  const call = draw("start > call > end", {
    call: { node_type: "tool_call", config: { tool_name: "send_mail", args_template: {} } },
  });
  expect(await report(call)).toMatchObject({ status: "failed" });
});

test("a test that refers to missing nodes is not run and says why", async () => {
  const { status, problems } = await runTest(
    of(draw("start > a > end")),
    testOf({ pins: { nobody: { output: {} } }, expect: [{ kind: "path", nodes: ["b"] }] }),
    parts,
  );
  expect({ status, problems }).toEqual({
    status: "not_run",
    problems: [
      "Can't pin an output: there is no node nobody.",
      "Expectation 1: It refers to the node b, which this workflow doesn't have.",
    ],
  });
});

test("an expectation for a judge is not checked without a model, and alone doesn't pass a test", async () => {
  const judge = { kind: "judge", rubric: "It is kind", threshold: 0.7 };
  const drawn = of(draw("start > end"));
  const alone = await runTest(drawn, testOf({ expect: [judge] }), parts);
  const beside = await runTest(
    drawn,
    testOf({ expect: [{ kind: "status", is: "COMPLETED" }, judge] }),
    parts,
  );
  expect([alone, beside].map(({ status, sentence }) => [status, sentence])).toEqual([
    ["not_run", "None of its expectations could be checked without a model."],
    ["passed", "1 of 2 expectations passed; 1 could not be checked without a model."],
  ]);
});

test("a test of a long workflow yields the thread while it runs", async () => {
  const names = Array.from({ length: 1500 }, (_, at) => `t${at}`);
  const step = { config: { set: { n: "1" } }, output_keys: ["n"] };
  const graph = draw(
    `start > ${names.join(" > ")} > end`,
    Object.fromEntries(names.map((name) => [name, step])),
  );
  // Each look at the clock is long after the one before, however fast this machine is.
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 20));
  let turns = 0;
  let isOver = false;
  const others = () => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const config = RunConfig.parse({ max_steps: 2000 });
  const { status } = await runTest(of({ ...graph, config }), testOf({}), parts);
  isOver = true;
  expect([status, turns > 1]).toEqual(["passed", true]);
});
