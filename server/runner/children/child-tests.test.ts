import { expect, test } from "vitest";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newScratchTools } from "@/server/scratch-tools";
import { calledBy } from "../lifecycle/launch";
import type { TestParts } from "../scenario/answering";
import { testOfRun, verifyKept } from "../scenario/keep-run";
import { runTest } from "../scenario/run-test";
import { fakeModels, newStage, role } from "../testing";

const roles = [role("Worker")];
const SUMMARY = draw("start > a > end", {
  start: { node_type: "start", output_keys: ["text"] },
  a: {
    node_type: "agent_task",
    config: { required_role: "Worker", task_description_template: "Summarize {{text}}" },
    output_keys: ["summary"],
  },
  end: { node_type: "end", input_keys: ["summary"] },
});
const ALL = draw("start > m > end", {
  start: { node_type: "start", output_keys: ["texts"] },
  m: {
    node_type: "map",
    config: {
      items: "state.texts",
      workflow_id: "summary",
      input: { text: "item" },
      output: "output.summary",
      concurrency: 1,
    },
    output_keys: ["summaries"],
  },
  end: { node_type: "end", input_keys: ["summaries"] },
});
const workflows = { summary: { name: "summary", graph: SUMMARY, roles, provider_summary: null } };
const tested = { name: "Test", graph: ALL, roles, workflows };
const input = { texts: ["one", "two"] };

function partsWith(models: ReturnType<typeof fakeModels>): TestParts {
  return {
    models,
    demoModels: () => models,
    tools: newScratchTools(() => 0).host,
    scratchTools: newScratchTools,
  };
}

test("a test kept from a run repeats it without running its sub-workflows", async () => {
  const stage = newStage({ models: fakeModels(() => "short") });
  const { id } = await stage.run(ALL, { input, roles, workflows: { summary: SUMMARY } });
  const made = ScenarioTest.parse(
    JSON.parse(JSON.stringify({ id: "kept", ...testOfRun(id, stage.store.journal(id), "Kept") })),
  );
  const nobody = fakeModels(() => {
    throw new Error("A test asks nobody.");
  });
  const { test: kept, notes } = await verifyKept(
    tested,
    made,
    stage.store.events(id, 0, 1e6),
    partsWith(nobody),
  );
  expect(notes).toEqual([]);
  expect((await runTest(tested, kept, partsWith(nobody))).status).toBe("passed");
  expect(nobody.requests).toEqual([]);
});

test("a test without recorded answers runs its sub-workflows with the demo model", async () => {
  const models = fakeModels(() => "short");
  const report = await runTest(
    tested,
    ScenarioTest.parse({
      id: "new",
      name: "New",
      input,
      simulated: true,
      expect: [{ kind: "status", is: "COMPLETED" }],
    }),
    partsWith(models),
  );
  expect([report.status, report.sentence]).toEqual(["passed", expect.any(String)]);
  expect(models.requests).toHaveLength(2);
});

const sources = (graphs: Record<string, ReturnType<typeof draw>>) => ({
  workflows: {
    find: (id: string) => (graphs[id] ? { id, name: `Workflow ${id}`, graph: graphs[id] } : undefined),
  },
  roles: { all: () => roles },
  models: fakeModels(() => ""),
});
const calls = (id: string) =>
  draw("start > sub > end", { sub: { node_type: "sub_workflow", config: { workflow_id: id } } });

test("a run gets copies of all workflows that it runs, and of those that these run", () => {
  const { workflows: copies } = calledBy(sources({ b: calls("c"), c: SUMMARY }), calls("b"), ["a"]);
  expect(Object.keys(copies ?? {})).toEqual(["b", "c"]);
  expect(copies?.c).toMatchObject({ name: "Workflow c", roles: [{ name: "Worker" }] });
  expect(calledBy(sources({}), SUMMARY, ["a"])).toEqual({});
});

test.each([
  ["one that was deleted", { b: calls("gone") }, /It runs the workflow "gone", which doesn't exist/],
  ["itself", { b: calls("a"), a: calls("b") }, /It runs Workflow a, which runs itself/],
  [
    "one with problems",
    { b: draw("start > r > end", { r: { node_type: "tool_call", config: {} } }) },
    /It runs Workflow b, which has a problem at r: Choose a tool/,
  ],
])("a workflow that runs %s can't start", (_case, graphs, message) => {
  expect(() => calledBy(sources(graphs), calls("b"), ["a"])).toThrow(message);
});
