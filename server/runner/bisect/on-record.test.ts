import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { execute } from "../interpreter/execute";
import { role } from "../testing";
import { executeOnRecord, type FoundOnRecord, isLookUp, type Wanted } from "./on-record";

const asks = (more: JsonObject = {}): JsonObject => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: "do it" },
  output_keys: ["answer"],
  ...more,
});
const gate: JsonObject = {
  node_type: "approval_gate",
  config: { title: "Go on?", options: ["yes", "no"] },
};
const answer = (content: string): FoundOnRecord => ({
  result: {
    ok: true,
    value: {
      content,
      finish_reason: "stop",
      provider: "P",
      provider_id: "p",
      model: "m",
      simulated: true,
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        cached_input_tokens: 0,
        reasoning_tokens: 0,
        requests: 1,
        estimated: false,
      },
      cost_usd: 0,
      cost_source: "simulated",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
    },
  },
  ms: 40,
  turn: 2,
});

/** Carries a drawing out on a record; `wanted`: what the record was asked for. */
async function onRecord(
  graph: WorkflowGraph,
  found: (wanted: Wanted) => FoundOnRecord,
  code?: Parameters<typeof executeOnRecord>[3],
) {
  const wanted: string[] = [];
  const done = await executeOnRecord(
    {
      seq: 1,
      ts: 0,
      type: "run_created",
      payload: {
        graph,
        roles: [role("Worker")],
        workflow_id: null,
        workflow_name: "Test",
        input: {},
        config: RunConfig.parse({ ...graph.config }),
        trigger: "test",
        provider_summary: null,
      },
    },
    { runId: "r", begunAt: 1000, execute },
    (one) => {
      wanted.push(`${one.kind} ${one.key}`);
      return found(one);
    },
    code,
  );
  return {
    wanted,
    unknown: done.unknown ?? null,
    status: done.unknown === undefined ? done.state.run.final_status : null,
    state: done.unknown === undefined ? done.state.state : null,
    nodes:
      done.unknown === undefined ? Object.values(done.state.activations).map(({ node_id }) => node_id) : [],
    error: done.unknown === undefined ? (done.state.run.error?.code ?? null) : null,
  };
}
const missing = () => ({ missing: "Nobody knows." });

test("a run continues with its recorded answers and makes no calls", async () => {
  const { unknown, status, state, wanted } = await onRecord(
    draw("start > a > end", { a: asks() }),
    ({ kind }) => (kind === "model" ? answer("well") : missing()),
  );
  expect({ unknown, status, answer: state?.answer }).toEqual({
    unknown: null,
    status: "COMPLETED",
    answer: "well",
  });
  expect(wanted.filter((one) => one.startsWith("model"))).toHaveLength(1);
});

test("a run with a missing recorded answer has an unknown result, even with an error edge", async () => {
  const { unknown } = await onRecord(draw("start > a > end; a !> b > end", { a: asks() }), ({ kind }) =>
    kind === "model" ? { missing: "Neither run asked that." } : missing(),
  );
  expect(unknown).toBe("Neither run asked that.");
});

test("a run whose recorded answer never came continues by its time limits", async () => {
  const graph = draw("start > a > end", { a: asks() });
  const silent = await onRecord(graph, ({ kind }) => (kind === "model" ? null : missing()));
  const asked = draw("start > g > end", { g: gate });
  const alone = await onRecord(asked, () => null);
  expect([silent, alone].map(({ unknown, status, error }) => [unknown, status, error])).toEqual([
    [null, "ERROR", "TIMEOUT"],
    [null, "COMPLETED", null],
  ]);
});

test("a recorded answer selects the route, and no person is asked", async () => {
  const graph = draw("start > g; g yes> a > end; g no> b > end", { g: gate });
  const { nodes, wanted } = await onRecord(graph, ({ kind }) =>
    kind === "person"
      ? { result: { ok: true, value: { answer: "chosen", option: "no", by: "ann" } }, ms: 5, turn: 3 }
      : missing(),
  );
  expect([nodes.includes("b"), nodes.includes("a")]).toEqual([true, false]);
  expect(wanted.filter((one) => one.startsWith("person"))).toHaveLength(1);
});

describe("a wait", () => {
  const graph = draw("start > w > end", { w: { config: { ms: 500 } } });
  const took = async (found: FoundOnRecord) => {
    let ms: unknown;
    const { status } = await onRecord(graph, ({ kind, asked }) => {
      if (kind === "time") ms = asked;
      return found;
    });
    return [ms, status];
  };
  test("a wait completes, whether its end is recorded, unknown or missing", async () => {
    expect(await took({ result: { ok: true, value: null }, ms: 900, turn: 2 })).toEqual([500, "COMPLETED"]);
    expect(await took({ missing: "?" })).toEqual([500, "COMPLETED"]);
    expect(await took(null)).toEqual([500, "COMPLETED"]);
  });
});

test("keys of tool lookups are recognized", () => {
  expect(["a#1/1/w/tools", "tools", "a#1/1/tools/x", "a#1/1/mytools"].map(isLookUp)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
