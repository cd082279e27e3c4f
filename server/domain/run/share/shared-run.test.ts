import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { completed, created, failedWith, logOf, of, over, ready, started } from "../testing";
import { type ShareChoice, sharedRun } from "./shared-run";

const NOTHING: ShareChoice = { prompts: false, tool_results: false, files: false, state: false };
const ALL: ShareChoice = { prompts: true, tool_results: true, files: true, state: true };
const graph = draw("start > a > b > end", { b: { name: "" } });
const stepsOf = (events: NewEvent[], choice = NOTHING) => sharedRun(logOf(events), choice).steps;

const by = { agent_id: "chief_writer" };
const begun = of(
  "a",
  "agent_started",
  { role_name: "Writer", output_keys: [], limits: { max_iterations: 3 } },
  by,
);
const asked = (call_id: string) =>
  of("a", "llm_call_started", { purpose: "task", attempt: 1, message_count: 1 }, { ...by, call_id });
const answered = (call_id: string, content: string, more: object = {}) =>
  of(
    "a",
    "llm_call_completed",
    {
      content,
      finish_reason: "stop",
      provider: "p",
      model: "m1",
      simulated: false,
      usage: { ...NO_USAGE, input_tokens: 7, output_tokens: 3, requests: 1 },
      cost_usd: 0.5,
      cost_source: "table",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
      ...more,
    },
    { ...by, call_id },
  );
const messageAdded = (role: "user" | "tool", content: string) =>
  of(
    "a",
    "message_added",
    { message: { role, content, ...(role === "tool" ? { tool_call_id: "t" } : {}) }, origin: "template" },
    by,
  );
const call = (more: Partial<NewEvent> = by) =>
  of("a", "tool_call_started", { tool_name: "look", args: { page: 1 }, protocol: "native", risk: "LOW" }, {
    ...more,
    call_id: "c1",
  } as never);
const gave = (more: object) =>
  of("a", "tool_call_completed", { tool_name: "look", status_code: 200, ...more }, { ...by, call_id: "c1" });

test("step texts of a shared run contain nothing that was said, written or read", () => {
  const events: NewEvent[] = [
    created(graph),
    { type: "run_started", payload: {} },
    { type: "state_initialized", payload: { state: { x: 1 }, defaults_applied: [] } },
    ready("a"),
    started("a"),
    begun,
    messageAdded("user", "secret"),
    asked("l1"),
    answered("l1", "secret"),
    call(),
    call({}),
    gave({ output: "secret" }),
    of("a", "post_sent", { from: "ann", to: "bob", message: "secret", kind: "post" }, by),
    of("a", "handed_off", { from: "ann", to: "bob", reason: "secret", count: 1 }, by),
    of("a", "interaction_requested", {
      interaction_id: "q",
      kind: "question",
      title: "secret",
      why: "secret",
      fingerprint: "f",
      expires_at: 9,
    }),
    of("a", "interaction_answered", { interaction_id: "q", answer: "approve_always", by: "ann" }),
    of("a", "agent_finished", { status: "handed_off", usage: NO_USAGE, cost_usd: 0 }, by),
    of("a", "router_decided", { kind: "value", labels: ["yes", "no"] }),
    of("a", "router_decided", { kind: "value", labels: [] }),
    { ...of("b", "edge_taken", { edge_id: "e1", label: "yes" }), activation_id: "a#1" },
    { ...of("b", "edge_taken", { edge_id: "e1" }), activation_id: "a#1" },
    of("a", "state_patched", { set: { x: 2, y: 1 }, writer: "a#1" }),
    completed("a"),
    ready("b"),
    failedWith("b", "continue"),
    { type: "node_skipped", node_id: "end", payload: { reason: "unreachable" } },
    of("gone", "loop_started", { max: 3 }),
    { type: "warning", payload: { code: "X", message: "secret" } },
    over({ final_status: "INCOMPLETE", reason_code: "BUDGET_TOTAL_TOKENS" as never }),
  ];
  const texts = stepsOf(events).map(({ text }) => text);
  expect(texts).toHaveLength(27);
  expect(texts.join("\n")).not.toContain("secret");
  for (const words of [
    "a started",
    "chief writer started as Writer",
    "m1 answered chief writer",
    "chief writer calls look",
    "a calls look",
    "look returned 200",
    "ann handed off to bob",
    "approve always",
    "handed off",
    "a chose yes, no",
    "a chose no route",
    "Next: b (yes)",
    "a wrote x, y",
    "b failed: CONFIG",
    "end was skipped",
    "gone: loop started",
    "incomplete",
  ])
    expect(texts).toContainEqual(expect.stringContaining(words));
});

test("a step has its time, node, agent and changes, including those of unlisted events before it", () => {
  const events: NewEvent[] = [
    created(graph),
    of("a", "state_initialized", { state: { x: 1, y: 1 }, defaults_applied: [] }),
    ready("a"),
    { ...of("b", "edge_skipped", { edge_id: "e2" }), activation_id: "a#1" },
    { ...of("a", "edge_taken", { edge_id: "e0" }), activation_id: "start#1" },
    started("a"),
    begun,
    answered("l1", "Hello"),
    { type: "state_edited", payload: { set: { z: 3 }, remove: ["x"], words: [], by: "ann" } },
  ];
  const place = { node: "a" };
  expect(stepsOf(events, ALL)).toEqual([
    { seq: 1, at: 0, text: "The run was created" },
    { seq: 2, at: 10, text: "State initialized", ...place, set: { x: 1, y: 1 } },
    { seq: 5, at: 40, text: "Next: a", ...place, edges: ["e0"], nodes: { a: { status: "ready", count: 1 } } },
    { seq: 6, at: 50, text: "a started", ...place, nodes: { a: { status: "running", count: 1 } } },
    { seq: 7, at: 60, text: "chief writer started as Writer", ...place, agent: "chief_writer" },
    {
      seq: 8,
      at: 70,
      text: "m1 answered chief writer",
      ...place,
      agent: "chief_writer",
      detail: [{ title: "Answered", text: "Hello" }],
      tokens: 10,
      cost: 0.5,
    },
    { seq: 9, at: 80, text: "state edited", set: { z: 3 }, gone: ["x"] },
  ]);
  expect(stepsOf(events)[1]).toEqual({ seq: 2, at: 10, text: "State initialized", ...place });
});

describe("details in a shared run", () => {
  const about = (event: NewEvent, choice: ShareChoice) =>
    stepsOf([created(graph), ready("a"), event], choice)[1]?.detail;
  const prompts = { ...NOTHING, prompts: true };
  const tools = { ...NOTHING, tool_results: true };
  const question = (more: object) =>
    of("a", "interaction_requested", {
      interaction_id: "q",
      kind: "question",
      title: "Send?",
      why: "",
      fingerprint: "f",
      expires_at: 9,
      ...more,
    });
  const mail = { tool_name: "mail", args: { to: "bob" }, risk: "LOW" as const, why: "so" };
  test.each<[string, NewEvent, unknown, unknown]>([
    [
      "a message to an agent",
      messageAdded("user", "Write."),
      [{ title: "Instructed", text: "Write." }],
      undefined,
    ],
    [
      "a tool message to an agent, which belongs to the tool",
      messageAdded("tool", "Page"),
      undefined,
      undefined,
    ],
    ["the answer of a model", answered("l", "Hello"), [{ title: "Answered", text: "Hello" }], undefined],
    ["an answer with tool calls only", answered("l", ""), undefined, undefined],
    [
      "a post between members",
      of("a", "post_sent", { from: "a", to: "b", message: "Hi", kind: "post" }, by),
      [{ title: "Message", text: "Hi" }],
      undefined,
    ],
    ["the arguments of a tool call", call(), undefined, [{ title: "Arguments", text: '{\n  "page": 1\n}' }]],
    ["the result of a tool call", gave({ output: "Page" }), undefined, [{ title: "Result", text: "Page" }]],
    [
      "the result of a tool call as JSON",
      gave({ output: [1] }),
      undefined,
      [{ title: "Result", text: "[\n  1\n]" }],
    ],
    [
      "the error of a tool call",
      gave({ status_code: 500, error: "Away", output: "x" }),
      undefined,
      [{ title: "Result", text: "Away" }],
    ],
    ["an empty result of a tool call", gave({}), undefined, [{ title: "Result", text: "" }]],
    [
      "a question without a call",
      question({ body: "Dear" }),
      [{ title: "Asked", text: "Send?\nDear" }],
      undefined,
    ],
    [
      "a question about several calls",
      question({ calls: [mail] }),
      [{ title: "Asked", text: "Send?" }],
      [{ title: "Arguments", text: JSON.stringify([{ tool_name: "mail", args: { to: "bob" } }], null, 2) }],
    ],
    [
      "an answer with a form",
      of("a", "interaction_answered", {
        interaction_id: "q",
        answer: "approve",
        content: { n: 1 },
        by: "ann",
      }),
      [{ title: "A person answered", text: 'Approved\n{\n  "n": 1\n}' }],
      undefined,
    ],
  ])("only the chosen parts include the details of a step: %s", (_what, event, withPrompts, withTools) => {
    expect(about(event, prompts)).toEqual(withPrompts);
    expect(about(event, tools)).toEqual(withTools);
    expect(about(event, NOTHING)).toBeUndefined();
  });
});

describe("metadata of a shared run", () => {
  const bare = { format: "troupe-run", version: 1, files: [], steps: [] };
  test("a shared run has its name, status and start time, and whether its cost is unknown", () => {
    const file = { path: "a.txt", size: 1, text: "x" };
    const events = logOf([
      created(graph, { workflow_name: "Letters" }),
      ready("a"),
      begun,
      answered("l", "x", { cost_usd: null, simulated: true }),
      over(),
    ]).map((event) => ({ ...event, ts: event.ts + 5000 }));
    const { nodes: _n, edges: _e, steps, ...head } = sharedRun(events, ALL, [file]);
    expect(head).toEqual({
      ...bare,
      steps: undefined,
      name: "Letters",
      status: "COMPLETED",
      began: 5000,
      simulated: true,
      unknown_cost: true,
      choice: ALL,
      files: [file],
    });
    expect(steps[0]?.at).toBe(0);
    expect(sharedRun(events, NOTHING, [file]).files).toEqual([]);
  });

  test("a shared run without a name, an end or events has default metadata", () => {
    const unnamed = sharedRun(logOf([created(graph, { workflow_name: "" })]), NOTHING);
    expect(unnamed.name).toBe("A run");
    expect(unnamed.status).toBe("created");
    expect(unnamed.simulated).toBe(false);
    expect(unnamed.unknown_cost).toBe(false);
    const empty = sharedRun([], NOTHING);
    expect(empty).toEqual({
      ...bare,
      name: "A run",
      status: "created",
      began: 0,
      simulated: false,
      unknown_cost: false,
      choice: NOTHING,
      nodes: [],
      edges: [],
    });
  });

  test("a step is never before the start of the run, even if the clock went back", () => {
    const [first, second] = logOf([created(graph), ready("a"), started("a")]).map((event) => ({
      ...event,
      ts: 100 - event.ts,
    }));
    expect(
      sharedRun([first!, { ...second!, type: "run_started", payload: {} } as never], NOTHING).steps.map(
        ({ at }) => at,
      ),
    ).toEqual([0, 0]);
  });
});

describe("the graph of a shared run", () => {
  const drawn = (of: WorkflowGraph) => sharedRun(logOf([created(of)]), NOTHING);
  const places = (of: WorkflowGraph) =>
    Object.fromEntries(drawn(of).nodes.map(({ id, x, y }) => [id, [x, y]]));

  test("a shared graph has each node's name and type and each edge's label", () => {
    const graph = draw("start > r; r yes> b > end", {
      b: { name: "" },
      end: { name: "Gone" },
    });
    const { nodes, edges } = drawn(graph);
    expect(nodes.map(({ id, name, kind }) => [id, name, kind])).toEqual([
      ["start", "start", "Start"],
      ["r", "r", expect.stringMatching(/router|condition/i)],
      ["b", "b", "Transform"],
      ["end", "Gone", "End"],
    ]);
    expect(edges).toEqual([
      { id: "e0", from: "start", to: "r" },
      { id: "e1", from: "r", to: "b", label: "yes" },
      { id: "e2", from: "b", to: "end" },
    ]);
  });

  test("a shared graph keeps its layout if every node has a position", () => {
    const laid = draw("start > end", { start: { ui: { x: 5, y: 7 } }, end: { ui: { x: 50, y: 0 } } });
    expect(places(laid)).toEqual({ start: [5, 7], end: [50, 0] });
  });

  test("a shared graph without a full layout has one column per step, ignoring back edges", () => {
    const loop = draw("start > a > c > end; start > b > c; c > a; start > end; x > y", {
      start: { ui: { x: 5, y: 7 } },
    });
    expect(places(loop)).toEqual({
      start: [0, 0],
      a: [280, 0],
      c: [560, 0],
      end: [280, 130],
      b: [280, 260],
      // What no way leads to stands with the start.
      x: [0, 130],
      y: [0, 260],
    });
    const { start_node_id: _s, ...headless } = draw("a > b");
    expect(places(headless)).toEqual({ a: [0, 0], b: [280, 0] });
  });
});
