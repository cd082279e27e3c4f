import { describe, expect, test } from "vitest";
import {
  findNodeKind,
  getNodeKind,
  isAgentNode,
  isCrewNode,
  isExecutable,
  isRouterNode,
  type NodeType,
  nodeKinds,
  noteTextOf,
  routerKindOf,
  usesOf,
  writtenKeys,
} from ".";
import { newNode } from "./new-node";
import { WorkflowNode } from "./schemas";
import { executeNode, nodeOf, shownFields, summaryOf } from "./testing/execute-node";

const crew = (process?: string, count = 2) => ({
  agents: ["ann", "bob", "cy"]
    .slice(0, count)
    .map((agent_id) => ({ agent_id, role_name: `Role of ${agent_id}` })),
  ...(process ? { process } : {}),
});
const plan = (count: number) => ({
  tasks: Array.from({ length: count }, (_, at) => ({ task_id: `t${at}`, description: "do it" })),
});

test("a node kind is found only by its type", () => {
  expect(findNodeKind("toString")).toBeUndefined();
  expect(() => getNodeKind("loop")).toThrow(new Error('Unknown node type "loop".'));
  expect(nodeKinds.map(({ type }) => getNodeKind(type).type)).toEqual(nodeKinds.map(({ type }) => type));
});

test("given values of a new node override its defaults", () => {
  const node = newNode("wait", { id: "w", name: "Rest", join: "any", config: { signal: "go" } });
  expect(node.name).toBe("Rest");
  expect(node.join).toBe("any");
  expect(node.output_keys).toEqual([]);
  expect(node.config).toEqual({ ms: 5000, signal: "go" });
});

test.each<[NodeType, object, object, string]>([
  ["start", {}, {}, "No inputs"],
  ["start", {}, { output_keys: ["a", "b"] }, "Asks for a, b"],
  ["agent_task", {}, {}, "No role yet"],
  ["agent_task", { required_role: "Writer" }, {}, "Writer"],
  ["agent_task", { required_role: "Writer", agent_ref: "ann" }, {}, "ann"],
  ["agent_task", { agent_ref: "ann", agent: { agent_id: "ann", role_name: "Reader" } }, {}, "Reader"],
  ["crew_task", {}, {}, "No crew yet"],
  ["crew_task", { crew_id_or_config_ref: "team", crew: crew() }, {}, "Crew team"],
  ["crew_task", { crew: crew() }, {}, "2 agents, plan written by Role of ann"],
  ["crew_task", { crew: crew("sequential", 1), plan: plan(1) }, {}, "1 agent, 1 task in sequence"],
  ["crew_task", { crew: crew("parallel"), plan: plan(2) }, {}, "2 agents, 2 tasks in parallel"],
  ["crew_task", { crew: crew("hierarchical"), plan: plan(2) }, {}, "2 agents, led by a manager"],
  ["tool_call", {}, {}, "No tool yet"],
  ["tool_call", { tool_name: "web_search" }, {}, "Calls web_search"],
  ["http_request", {}, {}, "No URL yet"],
  ["http_request", { method: "PUT", url: "https://a.example" }, {}, "PUT https://a.example"],
  ["transform", {}, {}, "No values yet"],
  ["transform", { set: { a: "1", b: "2" } }, {}, "Sets a, b"],
  ["code", { source: " \n " }, {}, "No code yet"],
  ["code", { source: "\n// first\nreturn 1;" }, {}, "// first"],
  ["wait", {}, {}, "No duration yet"],
  ["wait", { ms: 1500 }, {}, "For 1.5 s"],
  ["wait", { ms: 1500, signal: "go" }, {}, "For the signal “go”"],
  ["end", {}, {}, "Returns everything"],
  ["end", {}, { input_keys: ["a", "b"], optional_input_keys: ["c"] }, "Returns a, b"],
  ["end", {}, { optional_input_keys: ["c"] }, "Returns chosen values"],
  ["end", {}, { input_mapping: {} }, "Returns chosen values"],
  ["end", { status: "ERROR" }, { input_keys: ["a"] }, "Ends with an error"],
  ["note", { text: "Look here" }, {}, "Look here"],
])("a %s node with %j and %j has the summary %s", (type, config, node, summary) => {
  expect(summaryOf(type, config, node)).toBe(summary);
});

test.each<[NodeType, object, string[]]>([
  ["agent_task", {}, []],
  ["agent_task", { agent_ref: "ann" }, ["required_role"]],
  ["http_request", { method: "HEAD" }, ["body"]],
  ["http_request", { method: "DELETE" }, []],
  ["wait", {}, ["timeout_ms"]],
  ["wait", { signal: "go" }, []],
])("the form of a %s node with %j hides %j", (type, config, left) => {
  const shown = shownFields(type, config);
  expect(
    getNodeKind(type)
      .fields.map(({ key }) => key)
      .filter((key) => !shown.includes(key)),
  ).toEqual(left);
});

describe("node diagnostics", () => {
  const task = { required_role: "Writer", task_description_template: "write" };
  test.each<[NodeType, object, string[]]>([
    ["agent_task", {}, ["error E_UNKNOWN_ROLE required_role"]],
    [
      "agent_task",
      { ...task, task_description_template: " " },
      ["warning W_EMPTY_TASK task_description_template"],
    ],
    ["agent_task", task, []],
    ["agent_task", { ...task, required_role: "", agent_ref: "ann" }, []],
    ["crew_task", {}, ["error E_CREW_EMPTY crew"]],
    ["crew_task", { crew: crew() }, []],
    ["crew_task", { crew_id_or_config_ref: "team" }, []],
    ["tool_call", {}, ["error E_TOOL tool_name"]],
    ["tool_call", { tool_name: "a" }, []],
    ["http_request", { url: " " }, ["error E_HTTP_URL url"]],
    ["http_request", { url: "a" }, []],
    ["transform", {}, ["warning W_EMPTY_TRANSFORM set"]],
    ["transform", { set: { a: "1" } }, []],
    ["code", { source: " \n" }, ["error E_CODE_EMPTY source"]],
    ["code", { source: "return 1;" }, []],
    ["wait", { ms: 0 }, []],
    ["wait", { signal: "go" }, []],
    ["wait", {}, ["error E_WAIT_KIND ms"]],
    ["wait", { ms: 1, signal: "go" }, ["error E_WAIT_KIND ms"]],
    ["wait", { ms: 1, until: "true" }, ["error E_WAIT_KIND ms"]],
  ])("a %s node with %j has the diagnostics %j", (type, config, diagnostics) => {
    const node = nodeOf(type, config);
    const found = getNodeKind(type).validate?.(node.config, node, () => null) ?? [];
    expect(found.map(({ severity, code, field }) => `${severity} ${code} ${field}`)).toEqual(diagnostics);
  });
});

test.each<[NodeType, object, unknown]>([
  ["tool_call", { tool_name: "", args: { a: 1 } }, []],
  ["tool_call", { tool_name: "t", args: { a: 1 } }, [{ kind: "tool", name: "t", args: { a: 1 } }]],
  ["http_request", { method: "POST", url: "u" }, [{ kind: "request", method: "POST", url: "u" }]],
  ["code", { source: "return 1;" }, [{ kind: "code", source: "return 1;" }]],
  ["transform", {}, []],
])("a %s node with %j lists what it uses without an agent", (type, config, uses) => {
  expect(usesOf(nodeOf(type, config))).toEqual(uses);
});

test("expressions and templates in settings are listed with their field", () => {
  const args = {
    sum: { $expr: "1 + 1" },
    text: { $template: "Hi {{a}}" },
    plain: "{{a}}",
    list: [{ $expr: "1" }],
    object: { $expr: "1", more: 2 },
    nothing: null,
    number: { $expr: 3 },
  };
  const of = (type: NodeType, config: object) => {
    const kind = getNodeKind(type);
    const read = nodeOf(type, config).config;
    return [kind.expressions?.(read), kind.templates?.(read)];
  };
  expect(of("tool_call", { args })).toEqual([
    [{ field: "args.sum", expression: "1 + 1" }],
    [{ field: "args.text", template: "Hi {{a}}" }],
  ]);
  expect(of("transform", { set: { a: "1", b: "2" } })).toEqual([
    [
      { field: "set.a", expression: "1" },
      { field: "set.b", expression: "2" },
    ],
    undefined,
  ]);
  expect(of("http_request", { url: "u", headers: { h: "x" }, query: { q: "y" } })[1]).toEqual([
    { field: "url", template: "u" },
    { field: "headers.h", template: "x" },
    { field: "query.q", template: "y" },
  ]);
  expect(of("http_request", { body: "" })[1]).toEqual([
    { field: "url", template: "" },
    { field: "body", template: "" },
  ]);
  expect(of("agent_task", { task_description_template: "do" })[1]).toEqual([
    { field: "task_description_template", template: "do" },
  ]);
  expect(of("crew_task", { plan_description_template: "do" })[1]).toEqual([
    { field: "plan_description_template", template: "do" },
  ]);
});

test("the kind of a node decides its classification and the keys it writes", () => {
  const known = nodeKinds.map(({ type }) =>
    nodeOf(type, type === "note" ? { text: "Look" } : {}, { output_keys: ["k"] }),
  );
  const typesWhere = (holds: (node: (typeof known)[number]) => unknown) =>
    known.filter((node) => holds(node)).map(({ node_type }) => node_type);
  expect(typesWhere(isAgentNode)).toEqual(["agent_task"]);
  expect(typesWhere(isCrewNode)).toEqual(["crew_task"]);
  expect(typesWhere(isRouterNode)).toEqual(["conditional_router"]);
  expect(isAgentNode(undefined)).toBe(false);
  expect(isCrewNode(null)).toBe(false);
  expect(isRouterNode(null)).toBe(false);
  expect(routerKindOf(undefined)).toBeUndefined();
  expect(typesWhere((node) => !isExecutable(node))).toEqual(["note"]);
  expect(typesWhere((node) => noteTextOf(node) === "Look")).toEqual(["note"]);
  expect(known.map(routerKindOf).filter(Boolean)).toEqual(["function"]);
  expect(typesWhere((node) => writtenKeys(node).join() === "k")).toEqual(
    known.map(({ node_type }) => node_type),
  );
  expect(writtenKeys(nodeOf("transform", { set: { a: "1" } }, { output_keys: ["k", "a"] }))).toEqual([
    "a",
    "k",
  ]);
  expect(writtenKeys(nodeOf("transform", { set: { a: "1" } }, { output_mapping: { m: "1" } }))).toEqual([
    "m",
  ]);
});

test("node kinds define exits, end status, presets and signals", () => {
  const lists = nodeKinds.map((kind) => [kind.type, kind.exits?.(nodeOf(kind.type).config)]);
  expect(
    lists.filter(([, exits]) => Array.isArray(exits) && exits.length === 0).map(([type]) => type),
  ).toEqual(["conditional_router", "end", "note"]);
  const ends = (node: object, config: object = {}) => {
    const read = nodeOf("end", config, node);
    return getNodeKind("end").ends?.(read.config, read);
  };
  expect(ends({})).toEqual({ terminate: false, status: "COMPLETED", givesAll: true });
  expect(ends({ input_keys: ["a"] }, { terminate: true, status: "ERROR" })).toEqual({
    terminate: true,
    status: "ERROR",
    givesAll: false,
  });
  expect(
    getNodeKind("start").presets?.(
      nodeOf("start", { input_schema: { type: "object" }, tone: "calm" }).config,
    ),
  ).toEqual({ tone: "calm" });
  expect(getNodeKind("wait").signal?.(nodeOf("wait", { signal: "go" }).config)).toBe("go");
});

test.each([
  [true, "before"],
  [false, undefined],
  ["after", "after"],
  [undefined, undefined],
])("a breakpoint written as %j is read as %j", (breakpoint, read) => {
  expect(nodeOf("wait", {}, { breakpoint }).breakpoint).toBe(read);
});

test("a note isn't executed, and a start node returns its given values", () => {
  expect(executeNode("note", {}).gave).toBeUndefined();
  expect(
    executeNode("start", {}, { state: { a: 1, c: null }, node: { output_keys: ["a", "b", "c"] } }).gave,
  ).toEqual({ output: { a: 1, c: null } });
});

test.each(nodeKinds.map(({ type }) => type))(
  "a new %s node has the defaults that a file without them is read with",
  (type) => {
    const made = newNode(type, { id: "it" });
    const { id, name, output_keys, config } = made;
    expect(WorkflowNode.parse({ id, name, output_keys, config, node_type: type })).toEqual(made);
  },
);
