import { describe, expect, test, vi } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { capabilitiesOf } from "@/server/domain/library/capabilities";
import { findProblems, hasErrors } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import referenceApproval from "@/server/domain/testing/reference-approval.frozen.json";
import { runWithCalls } from "@/server/tools/sandbox/sandbox";
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
  test("the example is read without findings, including node types, keys, labels and start node", () => {
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

  test("the example can be written in the document's own terms and read back unchanged", () => {
    const graph = read();
    const text = writeWorkflow(graph, { flavour: "openhands" });
    expect(text).toMatch(/start_node[\s\S]*conditional_router_node[\s\S]*end_node/);
    expect(readWorkflow(text).graph).toEqual(graph);
  });
});

describe("load_workflow", () => {
  test("a missing start node and edges to unknown nodes are rejected", () => {
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
      const isRejected = !graph || findings.length > 0 || hasErrors(findProblems(graph, builtinRoles));
      expect(isRejected).toBe(true);
    }
    expect(findProblems(read(), builtinRoles)).toEqual([]);
  });

  test("a router with an unregistered function is an error that names the function", () => {
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

describe("register_conditional_router", () => {
  const functions = {
    cel: {
      language: "cel",
      source: 'has(state.approval_status) && state.approval_status == "approved" ? "approved" : "rejected"',
    },
    // The function of the document, in the language that runs in the sandbox.
    javascript: {
      language: "javascript",
      source: `const approval_status = (state.approval_status ?? "").toLowerCase();
if (approval_status === "approved") return "approved";
else if (approval_status === "rejected") return "rejected";
else return "error_unknown_status";`,
    },
  };
  const named = (router_function?: object) => ({
    node_type: "conditional_router",
    config: {
      kind: "function",
      router_function_name: "our_router",
      ways: ["approved", "rejected"],
      ...(router_function ? { router_function } : {}),
    },
  });
  const drawn = (how: keyof typeof functions) =>
    draw("start > ra; ra approved> rb; ra rejected> end; rb approved> end_both; rb rejected> end", {
      ra: named(functions[how]),
      rb: named(),
    } as never);

  test.each([
    ["cel", "approved", "end_both"],
    ["javascript", "Approved", "end_both"],
    ["javascript", "rejected", "end"],
  ] as const)(
    "routers of a workflow use a shared %s rule by its name, given %s",
    async (how, approvalStatus, end) => {
      const graph = drawn(how);
      expect(findProblems(graph, []).filter(({ severity }) => severity === "error")).toEqual([]);
      const { run, tools } = newScriptedStage([]);
      const code = vi.fn(runWithCalls);
      tools.runCode = (program, signal) => code(program, { signal });
      const { state, events } = await run(graph, { input: { approval_status: approvalStatus } });
      expect(state.run.error ?? null).toBeNull();
      expect(ran(state)).toContain(end);
      expect(of(events, "router_decided").map((decided) => decided.labels)).toEqual(
        end === "end" ? [["rejected"]] : [["approved"], ["approved"]],
      );
      expect(code).toHaveBeenCalledTimes(how === "cel" ? 0 : end === "end" ? 1 : 2);
    },
  );

  test("a rule that returns no route name stops the run and is named in the error", async () => {
    const { state } = await newScriptedStage([]).run(
      draw("start > ra; ra a> end", { ra: named({ source: "1 + 1" }) } as never),
    );
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "ROUTER_FAILED" });
    expect(state.run.error?.message).toBe(
      "Rule “our_router” returned 2. It must return a route name or a list of route names.",
    );
  });

  test("rules can be exported and imported, and their JavaScript is withheld until allowed", () => {
    const graph = drawn("javascript");
    expect(readWorkflow(writeWorkflow(graph, { flavour: "troupe" })).graph).toEqual(graph);
    expect(capabilitiesOf(graph, [])).toEqual([
      {
        key: "code:ra",
        kind: "code",
        name: "ra",
        where: [{ node_id: "ra" }],
        detail: functions.javascript.source,
      },
    ]);
    expect(capabilitiesOf(drawn("cel"), [])).toEqual([]);
  });

  test("a rule name is unique in a workflow and can't replace a built-in rule", () => {
    const codes = (graph: WorkflowGraph) =>
      findProblems(graph, []).flatMap(({ severity, code }) => (severity === "error" ? [code] : []));
    const twice = drawn("cel");
    twice.nodes.rb = { ...twice.nodes.ra!, id: "rb", config: { ...twice.nodes.ra!.config } } as never;
    expect(codes(twice)).toEqual([]);
    (twice.nodes.rb as { config: object }).config = named({ source: '"approved"' }).config;
    expect(codes(twice)).toContain("E_ROUTER_FUNCTION_TWICE");
    const taken = drawn("cel");
    (taken.nodes.ra!.config as { router_function_name: string }).router_function_name =
      "approval_status_router";
    expect(codes(taken)).toEqual(
      expect.arrayContaining(["E_ROUTER_FUNCTION_TAKEN", "E_UNKNOWN_ROUTER_FUNCTION"]),
    );
  });
});

describe("process_workflow", () => {
  test("an approved request takes the approved route and merges outputs into the state", async () => {
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

  test("a rejected request takes only the rejected route", async () => {
    const { state, models } = await decided("rejected");
    expect(ran(state)).toContain("node_end_rejected");
    expect(ran(state)).not.toContain("node_approved_action");
    expect(state.state).toMatchObject({ notification_status: "told" });
    // The task's text is filled from the state.
    expect(models.calls[1]!.messages.at(-1)!.content).toContain(
      "Notify user of rejection for: <user_request>Please approve my vacation for next week.</user_request>. Comments: <approver_comments>so it is</approver_comments>.",
    );
  });

  test("a route without a matching edge stops the workflow and is named in the error", async () => {
    const graph = structuredClone(read());
    graph.edges = graph.edges.filter(({ edge_label }) => edge_label !== "rejected");
    const { state } = await decided("rejected", graph);
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "ROUTER_NO_MATCH" });
    expect(state.run.error?.message).toContain("rejected");
  });

  test("initial_input accepts any JSON value for a start key without a schema", async () => {
    const graph = draw("start > a > end", {
      start: { node_type: "start", output_keys: ["amount", "order"], config: {} },
      a: {
        node_type: "transform",
        output_keys: ["total"],
        config: { set: { total: "state.amount * state.order.count" } },
      },
    });
    const input = { amount: 5, order: { count: 3, of: ["apples", null] } };
    expect(findInputErrors(graph, input)).toEqual([]);
    const { state } = await newScriptedStage([]).run(graph, { input });
    expect(state.state).toEqual({ ...input, total: 15 });
  });

  test("a missing input key fails the node that needs it", async () => {
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
    expect(action).toContain("<approver_comments>so it is</approver_comments>");
    expect(action).not.toContain("approval_status");
  });

  test("a router can form a loop, which ends at its limit", async () => {
    const graph = draw("start > a > r; r again> a; r out> end", {
      a: { node_type: "transform", output_keys: ["r"], config: { set: { r: '"again"' } } },
    });
    const { state, events } = await newScriptedStage([]).run(graph, { config: { max_loop_iterations: 3 } });
    expect(of(events, "loop_iteration").length).toBeGreaterThanOrEqual(2);
    expect(state.run).toMatchObject({ reason_code: "LOOP_LIMIT" });
  });

  test("max_steps ends the run as INCOMPLETE with its state so far", async () => {
    const { state } = await newScriptedStage([]).run(draw("start > a > b > c > end"), {
      config: { max_steps: 3 },
    });
    expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "MAX_STEPS" });
    expect(state.state).toMatchObject({ a: "a" });
  });
});

describe("Implemented future enhancements", () => {
  test("agent and crew tasks use tools by role and write their outputs to the state", async () => {
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
    expect(stage.models.calls[2]!.messages.at(-1)!.content).toContain("<goal>Report: found</goal>");
  });

  test("branches run in parallel and join", async () => {
    const { state } = await newScriptedStage([]).run(draw("start > a > c > end; start > b > c"));
    expect(state.state).toMatchObject({ a: "a", b: "b", c: "c" });
    expect(Object.values(state.nodes).every(({ status }) => status === "completed")).toBe(true);
  });

  test("a failing node can have its own error route", async () => {
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

  test("strict state enforces the schema of the state", async () => {
    const graph = draw("start > a > end", {
      a: { node_type: "transform", output_keys: ["n"], config: { set: { n: '"not a number"' } } },
    });
    graph.global_state_schema = { type: "object", properties: { n: { type: "number" } } };
    const { state } = await newScriptedStage([]).run(graph, { config: { strict_state: true } });
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "STATE_INVALID" });
  });

  const code = { config: { source: "return input.x * 2;" }, input_keys: ["x"] };
  const agentTask = { config: { required_role: "Worker", task_description_template: "x" } };
  const crewTask = {
    config: {
      plan_description_template: "x",
      crew: { agents: [{ agent_id: "w", role_name: "Worker" }] },
      plan: { tasks: [{ task_id: "t", description: "x", required_role: "Worker" }] },
    },
  };
  test.each([
    ["transform", { config: { set: { v: "2" } } }, []],
    ["code", code, []],
    ["agent_task", { ...agentTask, input_keys: ["x"] }, [{ text: "2" }]],
    ["crew_task", crewTask, [{ text: "2" }]],
    ["tool_call", { config: { tool_name: "two", args: { text: "x" } } }, []],
  ])(
    "the output mapping of a %s node alone determines what it writes to the state",
    async (node_type, more, steps) => {
      const stage = newScriptedStage(steps, [tool("two", { execute: () => 2 })]);
      const graph = draw("start > a > end", {
        a: {
          node_type,
          ...more,
          output_keys: ["v"],
          output_mapping: { tenfold: "int(output.v) * 10", was: "state.x" },
        },
      });
      const { state } = await stage.run(graph, { input: { x: 1 }, roles: [role("Worker")] });
      expect(state.run.error ?? null).toBeNull();
      expect(state.state).toEqual({ x: 1, tenfold: 20, was: 1 });
      expect(state.run.warnings).toEqual([]);
    },
  );
});
