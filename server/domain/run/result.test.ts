import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { foldRun } from ".";
import type { NewEvent, RunEvent } from "./events";
import { failedNode, resultOf } from "./result";

/** start -> write -> check -> end; `handsOut`: what the end names. */
const graph = (handsOut: string[]) =>
  WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", output_keys: ["topic"] },
      write: {
        id: "write",
        node_type: "agent_task",
        output_keys: ["text", "title"],
        config: { required_role: "Writer", task_description_template: "Write." },
      },
      check: {
        id: "check",
        node_type: "conditional_router",
        config: { router_function_name: "approval_status_router" },
      },
      end: { id: "end", node_type: "end", input_keys: handsOut },
    },
    edges: [
      { id: "a", source_node_id: "start", target_node_id: "write" },
      { id: "b", source_node_id: "write", target_node_id: "check" },
      { id: "c", source_node_id: "check", target_node_id: "end", edge_label: "approved" },
    ],
  });

const at = (node_id: string) => ({ node_id, activation_id: `${node_id}#1` });
const ran = (node_id: string, output: JsonObject): NewEvent[] => [
  { type: "node_ready", ...at(node_id), payload: { consumes: [] } },
  { type: "node_started", ...at(node_id), payload: { attempt: 1, input: {} } },
  { type: "state_patched", ...at(node_id), payload: { set: output, writer: `${node_id}#1` } },
  { type: "node_completed", ...at(node_id), payload: { output, written_keys: Object.keys(output) } },
];
const went = (id: string, from: string, node_id: string): NewEvent => ({
  type: "edge_taken",
  node_id,
  activation_id: `${from}#1`,
  payload: { edge_id: id },
});

function run(handsOut: string[], given: JsonObject, output: JsonObject) {
  const events: NewEvent[] = [
    { type: "run_created", payload: { graph: graph(handsOut), roles: [], input: {} } } as unknown as NewEvent,
    ...ran("start", { topic: "Tides" }),
    went("a", "start", "write"),
    ...ran("write", { text: "Long", title: "Short" }),
    went("b", "write", "check"),
    ...ran("check", {}),
    went("c", "check", "end"),
    ...ran("end", given),
    {
      type: "run_finished",
      payload: { final_status: "COMPLETED", reason_code: "END_REACHED", output, warnings: [] },
    },
  ];
  return foldRun(
    "r",
    events.map((event, k): RunEvent => ({ ...event, seq: k + 1, ts: k })),
  );
}

test("an end node with input keys returns those values as the result", () => {
  expect(resultOf(run(["text"], { text: "Long" }, { text: "Long" }))).toEqual({
    main: { text: "Long" },
    rest: {},
  });
});

test("an end node without keys returns the last written values, separate from the rest of the state", () => {
  const state = { topic: "Tides", text: "Long", title: "Short", final_output_text: "Long" };
  expect(resultOf(run([], {}, state))).toEqual({
    main: { text: "Long", title: "Short" },
    rest: { topic: "Tides" },
  });
});

test("a value that only looks like a duplicate is kept", () => {
  const { main, rest } = resultOf(run([], {}, { text: "Long", final_output_text: "Another" }));
  expect({ ...main, ...rest }).toEqual({ text: "Long", final_output_text: "Another" });
});

test("an output that no node is known to have written is still returned", () => {
  expect(resultOf(run(["gone"], {}, { other: 1 }))).toEqual({ main: { other: 1 }, rest: {} });
});

test("the failed node of a run is the one in its error, else the last that failed", () => {
  const done = run([], {}, {});
  expect(failedNode(done)).toBeNull();
  const error = { code: "INTERNAL" as const, message: "No", retryable: false, user_action: "none" as const };
  const failed = {
    ...done,
    run: { ...done.run, final_status: "ERROR" as const, error: { ...error, node_id: "write" } },
  };
  expect(failedNode(failed)).toBe("write");
  const unnamed = {
    ...failed,
    run: { ...failed.run, error },
    activations: {
      ...done.activations,
      "check#1": { ...done.activations["check#1"]!, status: "failed" as const },
    },
  };
  expect(failedNode(unnamed)).toBe("check");
});
