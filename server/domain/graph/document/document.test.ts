import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { canonicalJson, isSameJson } from "@/server/domain/base/json";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { findProblems, hasErrors } from "@/server/domain/problems/problems";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { containing } from "@/server/domain/testing/containing";
import referenceApproval from "@/server/domain/testing/reference-approval.frozen.json";
import referencePlan from "@/server/domain/testing/reference-plan.frozen.json";
import { findTemplate, templates } from "@/server/templates";
import { sized } from "@/server/testing/thorough";
import { WorkflowGraph } from "../graph";
import { lossesOf, readWorkflow, writeWorkflow } from "./document";

const small = (more: Record<string, unknown> = {}) => ({
  graph_id: "g",
  nodes: { a: { id: "a", node_type: "start" }, b: { id: "b", node_type: "end" } },
  edges: [{ id: "e", source_node_id: "a", target_node_id: "b" }],
  ...more,
});
const findingsOf = (source: unknown) =>
  readWorkflow(source).findings.map(({ level, at }) => `${level} ${at}`);
const withoutPlaces = (graph: WorkflowGraph) => ({
  ...graph,
  nodes: Object.fromEntries(Object.entries(graph.nodes).map(([id, { ui: _ui, ...node }]) => [id, node])),
});

describe("reference files", () => {
  test("the reference approval workflow imports without findings and equals the template", () => {
    const { graph, name, roles, findings } = readWorkflow(JSON.stringify(referenceApproval));
    expect(findings).toEqual([]);
    expect({ name, roles }).toEqual({ name: "Simple approval workflow", roles: [] });
    // The template adds an input to try it with; the rest is theirs, node for node.
    const { global_state_schema: _example, ...template } = findTemplate("approval")!.graph;
    expect(graph).toEqual(withoutPlaces(template));
    expect(findProblems(graph!, builtinRoles)).toEqual([]);
  });

  test("an overlong task or condition is kept, is reported and blocks the workflow", () => {
    const file = structuredClone<{ nodes: Record<string, unknown>; edges: object[] }>(referenceApproval);
    const [id, task] = Object.entries(referenceApproval.nodes).find(
      ([, { node_type }]) => node_type === "agent_task",
    )!;
    file.nodes[id] = {
      ...task,
      config: { required_role: "ApprovalAgent", task_description_template: "x".repeat(70_000) },
    };
    file.edges[0] = { ...file.edges[0], condition: `${"1 + ".repeat(600)}1 > 2` };
    const { graph, findings } = readWorkflow(file);
    const at = `nodes.${id}.config.task_description_template`;
    expect(findings).toMatchObject([
      { level: "info", at, message: containing("70,000 characters; the maximum is 65,536") },
      {
        level: "info",
        at: "edges.0.condition",
        message: containing("2,405 characters; the maximum is 2,000"),
      },
    ]);
    expect(
      findProblems(graph!, builtinRoles).flatMap(({ severity, code, at }) =>
        severity === "error" ? [[code, at.kind]] : [],
      ),
    ).toEqual([
      ["E_BAD_EXPRESSION", "edge"],
      ["E_BAD_TEMPLATE", "node"],
    ]);
  });

  test("exporting the reference workflow in the OpenHands flavor restores the file", () => {
    const { graph } = readWorkflow(referenceApproval);
    expect(JSON.parse(writeWorkflow(graph!, { flavour: "openhands" }))).toEqual(referenceApproval);
    expect(lossesOf(graph!, { flavour: "openhands" })).toEqual([]);
    const losses = lossesOf(findTemplate("approval")!.graph, { flavour: "openhands" });
    expect(losses).toMatchObject([{ level: "dropped", at: "nodes", message: containing("canvas") }]);
  });

  test("a boolean breakpoint stops before the node", () => {
    const [id = ""] = Object.keys(referenceApproval.nodes);
    const node = referenceApproval.nodes[id as keyof typeof referenceApproval.nodes];
    const marked = { ...referenceApproval.nodes, [id]: { ...node, breakpoint: true } };
    expect(readWorkflow({ ...referenceApproval, nodes: marked }).graph?.nodes[id]?.breakpoint).toBe("before");
  });

  test("an OpenHands export reports the fields that the format doesn't support", () => {
    const { graph } = readWorkflow({ ...referenceApproval, version: 4, config: { max_steps: 3 } });
    expect(lossesOf(graph!, { flavour: "openhands" })).toMatchObject([
      { message: containing("Version numbers aren't part of this format") },
      { message: containing("Run limits and settings aren't part of this format") },
    ]);
  });

  test("plan.json imports as a workflow with one crew and an unchanged plan", () => {
    const { graph, name, roles, findings } = readWorkflow(JSON.stringify(referencePlan));
    const crew = graph!.nodes.carry_out;
    expect(crew?.node_type === "crew_task" && crew.config.plan).toEqual(ExecutionPlan.parse(referencePlan));
    expect(
      crew?.node_type === "crew_task" &&
        crew.config.crew?.agents.map(({ agent_id, role_name }) => [agent_id, role_name]),
    ).toEqual([
      ["analyst", "Analyst"],
      ["coder", "coder"],
      ["tester", "Tester"],
    ]);
    expect(name).toBe("Imported plan");
    expect(roles.map((role) => role.name)).toEqual(["coder"]);
    expect(findings.map(({ level }) => level)).toEqual(["info", "changed", "info"]);
    expect(findings.at(-1)?.message).toContain("Runs continue from there");
    // It was begun, and nothing in it is a deployment.
    expect(findProblems(graph!, [...builtinRoles, ...roles])).toMatchObject([
      { severity: "warning", code: "W_POINT_UNMATCHED" },
      { severity: "warning", code: "W_PLAN_BEGUN" },
      { severity: "warning", code: "W_CREW_LINE" },
    ]);
  });
});

describe("round trips", () => {
  test("a written workflow reads back unchanged, and key order doesn't affect the text", () => {
    fc.assert(
      fc.property(arbitraryGraph(), (graph) => {
        const text = writeWorkflow(graph, { flavour: "troupe", name: "Any" });
        const read = readWorkflow(text);
        expect(read.findings.filter(({ at }) => at !== "nodes")).toEqual([]);
        expect(canonicalJson(read.graph)).toBe(canonicalJson(graph));
        expect(read.name).toBe("Any");
        const turned = {
          ...Object.fromEntries(Object.entries(graph).reverse()),
          nodes: Object.fromEntries(
            Object.entries(graph.nodes)
              .reverse()
              .map(([id, node]) => [id, Object.fromEntries(Object.entries(node).reverse())]),
          ),
        } as WorkflowGraph;
        expect(writeWorkflow(turned, { flavour: "troupe", name: "Any" })).toBe(text);
      }),
      { numRuns: sized(50, 500) },
    );
  });

  test("the OpenHands flavor reads back without findings and keeps node settings", () => {
    fc.assert(
      fc.property(arbitraryGraph(), (graph) => {
        const text = writeWorkflow(graph, { flavour: "openhands" });
        const read = readWorkflow(text);
        expect(read.findings.filter(({ at }) => at !== "nodes")).toEqual([]);
        for (const node of Object.values(read.graph!.nodes)) {
          const before = graph.nodes[node.id]!;
          expect(
            isSameJson(
              [node.node_type, node.name, node.config, node.input_keys, node.output_keys],
              [before.node_type, before.name, before.config, before.input_keys, before.output_keys],
            ),
          ).toBe(true);
        }
        const raw = JSON.parse(text) as { nodes: Record<string, object>; edges: object[] };
        const known = new Set(["id", "node_type", "name", "config", "input_keys", "output_keys"]);
        for (const node of Object.values(raw.nodes))
          expect(Object.keys(node).filter((key) => !known.has(key))).toEqual([]);
        const edgeFields = new Set(["source_node_id", "target_node_id", "edge_label", "condition_name"]);
        for (const edge of raw.edges)
          expect(Object.keys(edge).filter((key) => !edgeFields.has(key))).toEqual([]);
      }),
      { numRuns: sized(40, 400) },
    );
  });

  test("templates and their roles survive a round trip", () => {
    for (const { graph, title } of templates) {
      const text = writeWorkflow(graph, { flavour: "troupe", name: title, roles: builtinRoles });
      const read = readWorkflow(text);
      expect(read).toEqual({
        graph,
        name: title,
        roles: [...builtinRoles].sort((a, b) => (a.name < b.name ? -1 : 1)),
        findings: [],
      });
    }
  });

  test("a written workflow omits defaults and has a fixed key order", () => {
    const graph = WorkflowGraph.parse(
      small({
        nodes: {
          b: { id: "b", node_type: "end" },
          a: {
            ui: { x: 1, y: 2 },
            output_keys: ["k"],
            id: "a",
            node_type: "start",
            name: "A",
            retry: { max_attempts: 2 },
          },
        },
      }),
    );
    expect(writeWorkflow(graph, { flavour: "troupe", name: "Small" })).toBe(`{
  "troupe": 1,
  "name": "Small",
  "workflow": {
    "graph_id": "g",
    "schema_version": 1,
    "nodes": {
      "a": {
        "id": "a",
        "node_type": "start",
        "name": "A",
        "output_keys": [
          "k"
        ],
        "retry": {
          "max_attempts": 2
        },
        "ui": {
          "x": 1,
          "y": 2
        }
      },
      "b": {
        "id": "b",
        "node_type": "end"
      }
    },
    "edges": [
      {
        "id": "e",
        "source_node_id": "a",
        "target_node_id": "b"
      }
    ]
  }
}
`);
  });
});

test("exported files contain no secrets from headers, URLs or arguments", () => {
  const graph = WorkflowGraph.parse(
    small({
      nodes: {
        a: {
          id: "a",
          node_type: "http_request",
          config: {
            url: "https://api.example.org/v1?api_key=CANARY-in-the-address&page=2",
            headers: {
              Authorization: "Bearer CANARY-in-a-header",
              "X-Api-Key": "{{state.key}}",
              "X-Auth-Token": "$TOKEN_OF_THE_TEAM",
              Accept: "application/json",
              "X-Request-Token": "short",
            },
            query: { key: "CANARY-in-the-query", sort_key: "created_at" },
            body: "the key sk-CANARY0123456789abc",
          },
        },
        b: {
          id: "b",
          node_type: "tool_call",
          config: {
            tool_name: "t",
            args: {
              api_key: { $template: "CANARY-in-an-argument" },
              password: { $expr: "state.password" },
              nested: { access_token: "CANARY-deep-inside" },
            },
          },
        },
        c: { id: "c", node_type: "transform", config: { set: { api_key: "state.other_key" } } },
        d: { id: "d", node_type: "end" },
        e: {
          id: "e",
          node_type: "agent_task",
          config: {
            required_role: "Writer",
            task_description_template: "x",
            llm_config: {
              model: "m",
              extra_body: {
                api_key: "CANARY",
                top_k: 5,
                headers: { Authorization: "Bearer CANARY" },
                max_tokens: 9,
              },
            },
          },
        },
      },
    }),
  );
  const text = writeWorkflow(graph, { flavour: "troupe" });
  expect(text).not.toContain("CANARY");
  for (const kept of [
    "&page=2",
    "{{state.key}}",
    "$TOKEN_OF",
    "application/json",
    '"short"',
    "created_at",
    '"top_k": 5',
  ])
    expect(text).toContain(kept);
  for (const kept of ["state.password", "state.other_key", '"Authorization": "[hidden]"', '"max_tokens": 9'])
    expect(text).toContain(kept);
  expect(lossesOf(graph, { flavour: "troupe" }).map(({ at }) => at)).toEqual([
    "nodes.a.config.url",
    "nodes.a.config.headers.Authorization",
    "nodes.a.config.query.key",
    "nodes.a.config.body",
    "nodes.b.config.args.api_key.$template",
    "nodes.b.config.args.nested.access_token",
    "nodes.e.config.llm_config.extra_body.api_key",
    "nodes.e.config.llm_config.extra_body.headers.Authorization",
  ]);
  const read = readWorkflow(text);
  expect(writeWorkflow(read.graph!, { flavour: "troupe" })).toBe(text);
  expect(lossesOf(read.graph!, { flavour: "troupe" })).toEqual([]);
});

describe("files of earlier versions", () => {
  test("a version 1 file reads without findings and is written unchanged", () => {
    const text = readFileSync(new URL("../../testing/version-1.frozen.json", import.meta.url), "utf8");
    const { graph, name, roles, findings } = readWorkflow(text);
    expect(findings).toEqual([]);
    expect(writeWorkflow(graph!, { flavour: "troupe", name, roles })).toBe(text);
  });
});

describe("files from other tools", () => {
  test("node lists, alternative names of types and fields, and missing IDs are accepted", () => {
    const { graph, findings } = readWorkflow({
      graph_id: "g",
      nodes: [
        { id: "s", type: "START_NODE", label: "Go" },
        { id: "r", type: "router", config: { router_function_name: "approval_status_router" } },
        {
          id: "w",
          type: "agent",
          config: { required_role: "Writer" },
          input_keys: "user_request, notes",
          position: { x: 5, y: 6 },
        },
        { id: "c", type: "crew" },
        { id: "e", type: "end_node" },
      ],
      edges: [
        { source: "s", target: "r" },
        { id: "edge_1", from: "r", to: "w", label: "approved" },
        { source_node_id: "w", target_node_id: "e", edge_label: null, condition_name: null },
      ],
      start_node_id: null,
      description: null,
    });
    expect(findings).toEqual([]);
    expect(graph).toEqual(
      WorkflowGraph.parse({
        graph_id: "g",
        nodes: {
          s: { id: "s", node_type: "start", name: "Go" },
          r: {
            id: "r",
            node_type: "conditional_router",
            config: { router_function_name: "approval_status_router" },
          },
          w: {
            id: "w",
            node_type: "agent_task",
            config: { required_role: "Writer" },
            input_keys: ["user_request", "notes"],
            ui: { x: 5, y: 6 },
          },
          c: { id: "c", node_type: "crew_task", config: {} },
          e: { id: "e", node_type: "end" },
        },
        edges: [
          { id: "edge_2", source_node_id: "s", target_node_id: "r" },
          { id: "edge_1", source_node_id: "r", target_node_id: "w", edge_label: "approved" },
          { id: "edge_3", source_node_id: "w", target_node_id: "e" },
        ],
      }),
    );
  });

  test("invalid IDs are replaced, in edges too", () => {
    const { graph, findings } = readWorkflow({
      nodes: {
        "1 first!": { id: "1 first!", node_type: "start" },
        "the end": { id: "other", node_type: "end" },
      },
      edges: [{ source_node_id: "1 first!", target_node_id: "the end" }],
      start_node_id: "1 first!",
      name: "My flow",
    });
    expect(Object.keys(graph!.nodes)).toEqual(["first", "the_end"]);
    expect(graph).toMatchObject({
      graph_id: "My_flow",
      start_node_id: "first",
      edges: [{ source_node_id: "first", target_node_id: "the_end" }],
    });
    expect(findings.map(({ level, at }) => [level, at])).toEqual([
      ["changed", "nodes.1 first!.id"],
      ["changed", "nodes.the end.id"],
      ["changed", "nodes.the end.id"],
    ]);
  });

  test("unknown node types are dropped with their edges, and unknown fields are reported", () => {
    expect(
      findingsOf(
        small({
          nodes: {
            a: { id: "a", node_type: "start", mystery: 1 },
            h: { id: "h", node_type: "teleport", name: "Fetch" },
            b: { id: "b", node_type: "end", config: { status: "MAYBE", colour: "red" } },
          },
          edges: [
            { id: "e", source_node_id: "a", target_node_id: "h" },
            { id: "f", source_node_id: "h", target_node_id: "b", style: "bold" },
            { id: "g", source_node_id: "a", target_node_id: "b", style: "bold" },
            { id: "x", source_node_id: "a", target_node_id: "nowhere" },
          ],
          colour: "red",
          start_node_id: "h",
        }),
      ),
    ).toEqual([
      "dropped nodes.a.mystery",
      "dropped nodes.h",
      "dropped nodes.b.config.status",
      "dropped nodes.b.config.colour",
      "dropped edges.0",
      "dropped edges.1",
      "dropped edges.2.style",
      "dropped edges.3",
      "dropped colour",
      "dropped start_node_id",
    ]);
  });

  test("a workflow is read from a code fence, after a byte order mark and from a wrapper object", () => {
    const expected = readWorkflow(small()).graph;
    for (const text of [
      `\uFEFF${JSON.stringify(small())}`,
      `\`\`\`json\n${JSON.stringify(small(), null, 2)}\n\`\`\`\n`,
      JSON.stringify({ workflow: small() }),
      JSON.stringify({ troupe: 1, workflow: small(), roles: [] }),
    ])
      expect(readWorkflow(text).graph).toEqual(expected);
  });

  test("a file's roles are read with its workflow", () => {
    const { roles, findings } = readWorkflow({
      troupe: 1,
      name: "N",
      workflow: small(),
      roles: [{ name: "A", goals: ["x"], skill: 9 }, { name: "A" }, { goals: [] }],
    });
    expect(roles.map(({ name, goals }) => [name, goals])).toEqual([["A", ["x"]]]);
    expect(findings.map(({ level, at }) => [level, at])).toEqual([
      ["dropped", "roles.0.skill"],
      ["dropped", "roles.1"],
      ["dropped", "roles.2"],
    ]);
  });

  test("statuses and priorities are read case-insensitively", () => {
    const { graph, findings } = readWorkflow({
      tasks: [
        { id: 1, description: "A", status: "IN_PROGRESS", priority: "HIGH" },
        { id: 2, description: "B", dependencies: [1] },
      ],
      user_instruction: "Do {{it}}",
    });
    const node = graph!.nodes.carry_out!;
    expect(
      node.node_type === "crew_task" &&
        node.config.plan?.tasks.map((task) => [task.task_id, task.status, task.priority, task.dependencies]),
    ).toEqual([
      ["task_1", "in_progress", "high", []],
      ["task_2", "pending", "medium", ["task_1"]],
    ]);
    expect(node.node_type === "crew_task" && node.config.plan_description_template).toBe("{{user_request}}");
    expect(findings.some(({ level }) => level === "error")).toBe(false);
    expect(hasErrors(findProblems(graph!, builtinRoles))).toBe(false);
    expect(findBuiltinRole("Planner")).toBeDefined();
  });

  test("a file that isn't a workflow is rejected with a message", () => {
    const rejected = (source: unknown, words: string) => {
      const { graph, findings } = readWorkflow(source);
      expect(graph).toBeNull();
      expect(findings).toMatchObject([{ level: "error", message: containing(words) }]);
    };
    rejected("", "empty");
    rejected(" \n\t", "empty");
    rejected('{"nodes": {', "Invalid JSON: unexpected end of file");
    rejected('{\n  "nodes": oops}', "JSON");
    rejected("[]", "a list");
    rejected(5, "a JSON object with nodes and edges");
    rejected({}, 'neither "nodes" nor "tasks"');
    rejected({ roles: [] }, "roles, not a workflow");
    rejected({ tasks: [] }, "no tasks");
    rejected({ troupe: 2 }, "newer version of Troupe (format 2)");
    rejected(small({ schema_version: 99 }), "format 99");
    rejected("[".repeat(100_000), "32 levels");
    rejected(" ".repeat(5 * 1024 * 1024 + 1), "larger than 5 MiB");
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i++) deep = { deep };
    rejected({ nodes: deep }, "nested too deeply");
  });

  test("prototype keys are left out", () => {
    const text =
      '{"graph_id":"g","nodes":{"__proto__":{"node_type":"end"},"constructor":{"node_type":"end"},"a":{"id":"a","node_type":"start","config":{"__proto__":{"polluted":1}}}},"edges":[]}';
    const { graph, findings } = readWorkflow(text);
    expect(Object.keys(graph!.nodes)).toEqual(["a"]);
    expect(findings.map(({ at }) => at)).toEqual([
      "nodes.__proto__",
      "nodes.constructor",
      "nodes.a.config.__proto__",
    ]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("reading a workflow never throws", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.jsonValue({ maxDepth: 5 }),
        fc.jsonValue(),
        (nodes, edges, other) => {
          for (const source of [
            other,
            { nodes, edges },
            { nodes: { a: nodes }, edges: [edges] },
            { tasks: [nodes, edges] },
            {
              troupe: 1,
              workflow: { nodes: [{ node_type: "crew_task", config: nodes }], edges: [edges], config: other },
              roles: other,
            },
          ]) {
            const { graph, findings } = readWorkflow(source);
            if (graph === null) expect(findings.some(({ level }) => level === "error")).toBe(true);
            else expect(WorkflowGraph.safeParse(graph).success).toBe(true);
          }
        },
      ),
      { numRuns: sized(100, 1000) },
    );
  });
});

describe("oversized files", () => {
  const nodes = Array.from({ length: 100_000 }, (_, at) => ({ id: `n${at}`, node_type: "transform" }));
  test.each([
    ["as text", JSON.stringify({ nodes, edges: [] }), /more than 50000 objects and lists/],
    [
      "as parsed JSON",
      { nodes, edges: [] },
      /at most 1000 nodes and 4000 connections; this one has 100000 and 0/,
    ],
    ["in a wrapper object", { workflow: { nodes: nodes.slice(0, 1001), edges: [] } }, /has 1001 and 0/],
    [
      "with too many edges",
      {
        nodes: [],
        edges: Array.from({ length: 4001 }, () => ({ source_node_id: "a", target_node_id: "b" })),
      },
      /has 0 and 4001/,
    ],
  ])("an oversized file is rejected before its parts are built: %s", (_name, source, pattern) => {
    const begun = process.memoryUsage().heapUsed;
    const { graph, findings } = readWorkflow(source);
    expect(graph).toBeNull();
    expect(findings).toEqual([
      expect.objectContaining({ message: expect.stringMatching(pattern) as string }),
    ]);
    expect(process.memoryUsage().heapUsed - begun).toBeLessThan(8_000_000);
  });
});

describe("mistyped settings", () => {
  test("of a map are reported with what they can be", () => {
    const nodes = {
      ...small().nodes,
      m: {
        ...{ id: "m", node_type: "map" },
        config: { items: "[1]", node: "b", on_item_error: "colect", concurrency: "many" },
      },
    };
    const { graph, findings } = readWorkflow(small({ nodes }));
    expect(findings.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'dropped: "config.concurrency" was left out: Must be a number, not a text.',
      'dropped: "config.on_item_error" was left out: Must be one of "fail", "skip", "collect".',
    ]);
    expect(graph?.nodes.m?.config).toMatchObject({ on_item_error: "fail", concurrency: 8 });
  });

  test("of a role's rule keep runs from starting, instead of letting a model answer", () => {
    const a = { id: "a", node_type: "agent_task", config: { required_role: "Echo" } };
    const nodes = { s: { id: "s", node_type: "start" }, a, b: { id: "b", node_type: "end" } };
    const edges = [
      { id: "e", source_node_id: "s", target_node_id: "a" },
      { id: "f", source_node_id: "a", target_node_id: "b" },
    ];
    const { graph, roles, findings } = readWorkflow({
      ...{ troupe: 1, graph: small({ nodes, edges }) },
      roles: [{ name: "Echo", rule: { kind: "ecko" } }],
    });
    expect(findings.map(({ message }) => message)).toContain(
      "This rule can't be read. Correct it to run the role.",
    );
    expect(findProblems(graph!, roles).map(({ code }) => code)).toContain("E_BAD_RULE");
  });
});
