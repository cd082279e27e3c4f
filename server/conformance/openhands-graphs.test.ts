import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems, hasErrors } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import referenceApproval from "@/server/domain/testing/reference-approval.frozen.json";
import { as, call, calls, newScriptedStage, of, role, tool } from "./stage";

// The promises of the reference "openhands-graph-workflows" (README.md of this folder), in its order.

const read = (source: object = referenceApproval): WorkflowGraph =>
  readWorkflow(JSON.stringify(source)).graph!;
const vacation = { user_request: "Please approve my vacation for next week." };
const decision = (approval_status: string) =>
  as("ApprovalAgent", { json: { approval_status, approver_comments: "so it is" } });

/** Runs the document's workflow with that decision. */
async function decided(approval_status: string, graph = read()) {
  const { run, models } = newScriptedStage([decision(approval_status), { text: "told" }]);
  return { ...(await run(graph, { input: vacation, roles: builtinRoles })), models };
}
const ran = (state: { nodes: Record<string, { status: string }> }) =>
  Object.entries(state.nodes).flatMap(([id, { status }]) => (status === "completed" ? [id] : []));

describe("Core concepts and data models", () => {
  test("the example reads without a finding: node types, config, keys, edges with labels, start node", () => {
    const { findings } = readWorkflow(JSON.stringify(referenceApproval));
    expect(findings).toEqual([]);
    const graph = read();
    expect(graph).toMatchObject({ graph_id: "simple_approval_workflow", start_node_id: "node_start" });
    expect(Object.values(graph.nodes).map(({ node_type }) => node_type)).toEqual([
      "start",
      "agent_task",
      "conditional_router",
      "agent_task",
      "agent_task",
      "end",
      "end",
    ]);
    expect(graph.nodes.node_get_approval).toMatchObject({
      input_keys: ["user_request"],
      output_keys: ["approval_status", "approver_comments"],
      config: { required_role: "ApprovalAgent" },
    });
    expect(graph.edges.flatMap(({ edge_label }) => edge_label ?? [])).toEqual(["approved", "rejected"]);
  });

  test("it can be written in the document's own words and read back the same", () => {
    const graph = read();
    const text = writeWorkflow(graph, { flavour: "openhands" });
    expect(text).toMatch(/start_node[\s\S]*conditional_router_node[\s\S]*end_node/);
    expect(readWorkflow(text).graph).toEqual(graph);
  });
});

describe("load_workflow", () => {
  test("a start node that is not there, and edges to nowhere, are not accepted", () => {
    const broken = [
      { ...referenceApproval, start_node_id: "node_nowhere" },
      {
        ...referenceApproval,
        edges: [...referenceApproval.edges, { source_node_id: "node_start", target_node_id: "x" }],
      },
      { ...referenceApproval, nodes: {}, edges: [], start_node_id: null },
    ];
    for (const source of broken) {
      const { graph, findings } = readWorkflow(JSON.stringify(source));
      const refused = !graph || findings.length > 0 || hasErrors(findProblems(graph, builtinRoles));
      expect(refused).toBe(true);
    }
    expect(findProblems(read(), builtinRoles)).toEqual([]);
  });

  test("a router without a function that is registered is an error that says so", () => {
    const router = {
      ...referenceApproval.nodes.node_approval_router,
      config: { router_function_name: "unheard_of" },
    };
    const graph = read({
      ...referenceApproval,
      nodes: { ...referenceApproval.nodes, node_approval_router: router },
    });
    expect(
      findProblems(graph, builtinRoles)
        .map(({ message }) => message)
        .join("\n"),
    ).toContain("unheard_of");
  });
});

describe("process_workflow", () => {
  test("approved: start, agent, router, action, end; outputs are merged into the state", async () => {
    const { state, events } = await decided("approved");
    expect(ran(state)).toEqual([
      "node_start",
      "node_get_approval",
      "node_approval_router",
      "node_approved_action",
      "node_end_approved",
    ]);
    expect(state.state).toEqual({
      ...vacation,
      approval_status: "approved",
      approver_comments: "so it is",
      action_result: "told",
    });
    expect(of(events, "router_decided")).toMatchObject([{ labels: ["approved"] }]);
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("rejected: the other way, and the first is not taken", async () => {
    const { state, models } = await decided("rejected");
    expect(ran(state)).toContain("node_end_rejected");
    expect(ran(state)).not.toContain("node_approved_action");
    expect(state.state).toMatchObject({ notification_status: "told" });
    // The task's text is filled from the state.
    expect(models.calls[1]!.messages.at(-1)!.content).toContain(
      "Notify user of rejection for: Please approve my vacation for next week.. Comments: so it is.",
    );
  });

  test("a router's word without a matching edge halts the workflow, and says which word", async () => {
    const graph = structuredClone(read());
    graph.edges = graph.edges.filter(({ edge_label }) => edge_label !== "rejected");
    const { state } = await decided("rejected", graph);
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "ROUTER_NO_MATCH" });
    expect(state.run.error?.message).toContain("rejected");
  });

  test("an input key that is not in the state stops the node that needs it", async () => {
    const graph = draw("start > a > end", {
      a: { node_type: "transform", input_keys: ["missing"], output_keys: ["a"], config: { set: { a: "1" } } },
    });
    const { state } = await newScriptedStage([]).run(graph);
    expect(state.run.final_status).toBe("ERROR");
    expect(state.run.error?.message).toContain("missing");
  });

  test("a node sees only the keys that it names", async () => {
    const { models } = await decided("approved");
    const action = models.calls[1]!.messages.at(-1)!.content;
    expect(action).toContain("approver_comments: so it is");
    expect(action).not.toContain("approval_status");
  });

  test("loops are allowed through a router, and end at their limit", async () => {
    const graph = draw("start > a > r; r again> a; r out> end", {
      a: { node_type: "transform", output_keys: ["r"], config: { set: { r: '"again"' } } },
    });
    const { state, events } = await newScriptedStage([]).run(graph, { config: { max_loop_iterations: 3 } });
    expect(of(events, "loop_iteration").length).toBeGreaterThanOrEqual(2);
    expect(state.run).toMatchObject({ reason_code: "LOOP_LIMIT" });
  });

  test("max_steps is a safety break: the run is INCOMPLETE, with its state so far", async () => {
    const { state } = await newScriptedStage([]).run(draw("start > a > b > c > end"), {
      config: { max_steps: 3 },
    });
    expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "MAX_STEPS" });
    expect(state.state).toMatchObject({ a: "a" });
  });
});

describe("Future enhancements that are here", () => {
  test("agent and crew tasks do their work, with tools by role, and give their outputs to the state", async () => {
    const stage = newScriptedStage(
      [calls(call("look", { text: "x" })), { text: "found" }, { text: "joined" }],
      [tool("look")],
    );
    const graph = draw("start > ask > crew > end", {
      ask: {
        node_type: "agent_task",
        output_keys: ["finding"],
        config: { required_role: "Worker", task_description_template: "look for {{ topic }}" },
        input_keys: ["topic"],
      },
      crew: {
        node_type: "crew_task",
        input_keys: ["finding"],
        output_keys: ["report"],
        config: {
          plan_description_template: "Report: {{ finding }}",
          crew: { agents: [{ agent_id: "author", role_name: "Author" }] },
          plan: { tasks: [{ task_id: "t", description: "write", required_role: "Author" }] },
        },
      },
    });
    const { state } = await stage.run(graph, {
      input: { topic: "bees" },
      roles: [role("Worker", ["look"]), role("Author")],
    });
    expect(state.state).toEqual({ topic: "bees", finding: "found", report: "joined" });
    expect(stage.models.calls[2]!.messages.at(-1)!.content).toContain("goal: Report: found");
  });

  test("branches run at the same time and join", async () => {
    const { state } = await newScriptedStage([]).run(draw("start > a > c > end; start > b > c"));
    expect(state.state).toMatchObject({ a: "a", b: "b", c: "c" });
    expect(Object.values(state.nodes).every(({ status }) => status === "completed")).toBe(true);
  });

  test("a failing node may have a way out of its own", async () => {
    const graph = draw("start > ask > end; ask !> mend > end_mended", {
      ask: {
        node_type: "agent_task",
        output_keys: ["x"],
        config: { required_role: "Worker", task_description_template: "x" },
      },
    });
    const { state } = await newScriptedStage([{ refusal: "no" }]).run(graph, { roles: [role("Worker")] });
    expect(ran(state)).toContain("end_mended");
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("the schema of the state is enforced where it is strict", async () => {
    const graph = draw("start > a > end", {
      a: { node_type: "transform", output_keys: ["n"], config: { set: { n: '"not a number"' } } },
    });
    graph.global_state_schema = { type: "object", properties: { n: { type: "number" } } };
    const { state } = await newScriptedStage([]).run(graph, { config: { strict_state: true } });
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "STATE_INVALID" });
  });
});
