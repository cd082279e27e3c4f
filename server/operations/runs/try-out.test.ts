import { expect, test } from "vitest";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { newApi } from "@/server/http-api/testing";

/** Draft asks a model; Judge goes one of two ways by what it wrote. */
const drawn = WorkflowGraph.parse({
  graph_id: "judged",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", config: {}, output_keys: ["topic"] },
    draft: {
      id: "draft",
      node_type: "agent_task",
      name: "Draft",
      config: { required_role: "Writer", task_description_template: "Write on {{topic}}" },
      input_keys: ["topic"],
      output_keys: ["text"],
    },
    judge: {
      id: "judge",
      node_type: "conditional_router",
      name: "Judge",
      config: {
        kind: "expression",
        conditions: [{ label: "good", when: 'state.text == "fine"' }],
      },
      input_keys: ["text"],
    },
    kept: { id: "kept", node_type: "end", name: "Kept", config: {}, input_keys: ["text"] },
    thrown: { id: "thrown", node_type: "end", name: "Thrown away", config: {}, input_keys: ["text"] },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "draft" },
    { id: "e2", source_node_id: "draft", target_node_id: "judge" },
    { id: "e3", source_node_id: "judge", target_node_id: "kept", edge_label: "good" },
    { id: "e4", source_node_id: "judge", target_node_id: "thrown", is_default: true },
  ],
});

async function finished(api: ReturnType<typeof newApi>, id: string) {
  await expect.poll(() => api.runs.find(id)?.status).toBe("finished");
  return api.runs.state(id)!;
}

test("a pinned node returns its output without executing, only in runs from the editor", async () => {
  const api = newApi(() => "as a model wrote it");
  const id = api.workflows.create({ name: "Judged", graph: drawn });
  const launch = { workflow_id: id, input: { topic: "tea" }, pins: { draft: { output: { text: "fine" } } } };

  const tried = await finished(api, api.startRun({ ...launch, trigger: "editor" })!.run_id);
  expect([tried.state.text, tried.nodes.kept?.status, Object.keys(tried.calls).length]).toEqual([
    "fine",
    "completed",
    0,
  ]);
  expect(tried.activations["draft#1"]).toMatchObject({
    pinned: true,
    input: { topic: "tea" },
    output: { text: "fine" },
  });
  expect(api.models.requests).toEqual([]);

  for (const trigger of ["api", "cli", "test"] as const)
    expect(() => api.startRun({ ...launch, trigger })).toThrow(
      "Pinned outputs only work in runs from the editor.",
    );
  // What a program makes of such a run holds no pins, either.
  const fork = await api.ask("POST", `/runs/${tried.run.id}/fork`, { at: { node_id: "draft" } });
  expect((await finished(api, fork.body.run_id)).state.text).toBe("as a model wrote it");
  const rejected = await api.ask("POST", `/workflows/${id}/runs`, { input: launch.input, pins: launch.pins });
  expect([rejected.status, rejected.body.error?.code ?? rejected.body.code]).toEqual([400, "unknown_field"]);

  const real = await finished(
    api,
    api.startRun({ workflow_id: id, input: launch.input, trigger: "api" })!.run_id,
  );
  expect([real.state.text, real.nodes.thrown?.status]).toEqual(["as a model wrote it", "completed"]);
});

test("a pinned router takes its pinned route, and an invalid pin is rejected by name", async () => {
  const api = newApi(() => "poor");
  const id = api.workflows.create({ name: "Judged", graph: drawn });
  const start = (pins: Record<string, { output: Record<string, never>; labels?: string[] }>) =>
    api.startRun({ workflow_id: id, input: { topic: "tea" }, trigger: "editor", pins })!.run_id;
  const run = await finished(api, start({ judge: { output: {}, labels: ["good"] } }));
  expect(run.nodes.kept?.status).toBe("completed");
  expect(() => start({ kept: { output: {} } })).toThrow("Kept has no output to pin.");
  expect(() => start({ gone: { output: {} } })).toThrow("Can't pin an output: there is no node gone.");
});

test("a single node runs with the given state", async () => {
  const api = newApi(() => "on tea");
  const id = api.workflows.create({ name: "Judged", graph: drawn });
  const path = `/workflows/${id}/nodes`;

  const missing = await api.ask("POST", `${path}/draft/runs`, { state: {} });
  expect([missing.status, missing.body.error?.code ?? missing.body.code]).toEqual([422, "invalid_input"]);
  const started = await api.ask("POST", `${path}/draft/runs`, { state: { topic: "tea" } });
  expect(started.status).toBe(202);
  const run = await finished(api, started.body.run_id as string);
  expect([run.run.only_node, run.run.final_status, Object.keys(run.activations), run.state.text]).toEqual([
    "draft",
    "COMPLETED",
    ["before_draft#1", "draft#1", "after_draft#1"],
    "on tea",
  ]);

  const judged = await api.ask("POST", `${path}/judge/runs`, { state: { text: "fine" } });
  const way = await finished(api, judged.body.run_id as string);
  expect(way.activations["judge#1"]?.labels).toEqual(["good"]);

  const end = await api.ask("POST", `${path}/kept/runs`, { state: { text: "fine" } });
  expect([end.status, JSON.stringify(end.body)]).toEqual([
    422,
    expect.stringContaining("An end node can't run alone. Run the workflow instead"),
  ]);
});
