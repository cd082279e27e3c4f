import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { created, fold, logOf, of, over, ready, started } from "../testing";
import { compareRuns } from "./compare";
import { firstDivergence } from "./divergence";

const graph = draw("start > a > b > end", { b: { name: "" } });
const done = (id: string, output: JsonObject = {}, labels?: string[]) =>
  of(id, "node_completed", { output, written_keys: [], ...(labels ? { labels } : {}) });
const ran = (id: string, ...rest: Parameters<typeof done> extends [string, ...infer R] ? R : never) => [
  ready(id),
  started(id),
  done(id, ...rest),
];
const run = (...events: NewEvent[]) => fold(created(graph), { type: "run_started", payload: {} }, ...events);
const spent = (id: string, cost_usd: number | null) =>
  of(
    id,
    "llm_call_completed",
    {
      content: "x",
      finish_reason: "stop",
      provider: "p",
      model: "m",
      simulated: false,
      usage: { ...NO_USAGE, input_tokens: 2, output_tokens: 1, requests: 1 },
      cost_usd,
      cost_source: "table",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
    },
    { agent_id: "ann", call_id: "c" },
  );

describe("the comparison of two runs", () => {
  test("a comparison sums up each node over all its activations in both runs", () => {
    const one = run(
      ready("a"),
      started("a"),
      spent("a", 1),
      done("a", { x: 1 }),
      ready("a#2"),
      started("a#2"),
      spent("a#2", 2),
      done("a#2"),
    );
    const unknown = run(
      ready("a"),
      started("a"),
      spent("a", null),
      done("a"),
      ready("a#2"),
      started("a#2"),
      spent("a#2", 2),
      done("a#2"),
      ready("b"),
    );
    const part = { status: "completed", count: 2, tokens: 6, ms: 40, output: {} };
    expect(compareRuns(one, unknown).nodes).toEqual([
      { id: "a", name: "a", a: { ...part, cost_usd: 3 }, b: { ...part, cost_usd: null }, differs: [] },
      {
        id: "b",
        name: "b",
        b: { status: "ready", count: 1, tokens: 0, cost_usd: 0, ms: 0 },
        differs: ["path"],
      },
    ]);
  });

  const first = (a: NewEvent[], b: NewEvent[]) => compareRuns(run(...a), run(...b)).first;
  const failed = [ready("a"), started("a"), of("a", "node_cancelled", { reason: "x" })];
  test.each<[string, NewEvent[], NewEvent[], unknown, unknown]>([
    ["the same result", ran("a", { x: 1 }, ["y"]), ran("a", { x: 1 }, ["y"]), null, []],
    [
      "another output",
      ran("a", { x: 1 }),
      ran("a", { x: 2 }),
      { a: "a#1", b: "a#1", why: "output" },
      ["output"],
    ],
    ["no output in either run", failed, failed, null, []],
    ["another status", ran("a"), failed, { a: "a#1", b: "a#1", why: "status" }, ["status", "output"]],
    [
      "another route",
      ran("a", {}, ["yes"]),
      ran("a", {}, ["no"]),
      { a: "a#1", b: "a#1", why: "way" },
      ["way"],
    ],
    ["an empty list of routes in one run", ran("a", {}, []), ran("a"), null, []],
    ["one more activation", ran("a"), [...ran("a"), ...ran("a#2")], { b: "a#2", why: "node" }, ["path"]],
    ["one fewer activation", [...ran("a"), ...ran("a#2")], ran("a"), { a: "a#2", why: "node" }, ["path"]],
    ["no activation in one run", ran("a"), [], { a: "a#1", why: "node" }, ["path"]],
  ])("two runs are compared if a node has %s", (_what, a, b, wanted, differs) => {
    expect(first(a, b)).toEqual(wanted);
    expect(compareRuns(run(...a), run(...b)).nodes[0]?.differs).toEqual(differs);
  });

  test("a comparison lists edges, values and totals, but no edges that neither run took", () => {
    const took = { ...of("b", "edge_taken", { edge_id: "e1" }), activation_id: "a#1" } as NewEvent;
    const state: NewEvent = { type: "state_initialized", payload: { state: { n: 1 }, defaults_applied: [] } };
    const comparison = compareRuns(run(took, took, ...ran("a"), over({ output: { out: 1 } })), run(state));
    expect(comparison.edges).toEqual([{ id: "e1", a: 2, b: 0 }]);
    expect(comparison.state.map(({ key }) => key)).toEqual(["n"]);
    expect(comparison.output.map(({ key }) => key)).toEqual(["out"]);
    expect(comparison.input).toEqual([]);
    expect(comparison.totals).toEqual({
      a: { final_status: "COMPLETED", tokens: 0, cost_usd: 0, ms: 60, steps: 1 },
      b: { final_status: null, tokens: 0, cost_usd: 0, ms: 0, steps: 0 },
    });
    expect(compareRuns(fold(), fold()).totals.a.ms).toBe(0);
  });

  test("a comparison ignores node positions and merges different workflows", () => {
    const moved = draw("start > a > b > end", { b: { name: "" }, a: { ui: { x: 1, y: 1 } } });
    const other = draw("start > a > x", { a: { name: "A" } });
    const over_ = compareRuns(run(), fold(created(other)));
    expect(compareRuns(run(), fold(created(moved))).is_same_graph).toBe(true);
    expect(over_.is_same_graph).toBe(false);
    expect(Object.keys(over_.graph.nodes)).toEqual(["start", "a", "b", "end", "x"]);
    expect(over_.graph.nodes.a?.name).toBe("A");
    expect(over_.graph.edges.map(({ id, target_node_id }) => [id, target_node_id])).toEqual([
      ["e0", "a"],
      ["e1", "x"],
      ["e2", "end"],
    ]);
  });
});

describe("the first divergence of two runs", () => {
  const at = { agent_id: "ann" };
  const call = (call_id: string, page: number, name = "look", who: object = at) =>
    of(
      "a",
      "tool_call_started",
      { tool_name: name, args: { page }, protocol: "native", risk: "LOW" },
      { ...who, call_id },
    );
  const gave = (call_id: string, more: object, who: object = at) =>
    of("a", "tool_call_completed", { tool_name: "look", status_code: 200, ...more }, { ...who, call_id });
  const log = (...events: NewEvent[]) => logOf([created(graph), ready("a"), ...events]);
  const tool = (more: object, page = 1, name = "look") => log(call("t", page, name), gave("t", more));
  const answers = (a: object, b: object) => firstDivergence(tool(a), tool(b))?.answers;
  test("two runs diverge at a tool call with the same arguments and another result or error", () => {
    expect(firstDivergence(tool({ output: "x" }), tool({ output: "y" }))).toEqual({
      what: "tool",
      call_id: "t",
      a: 4,
      b: 4,
      node_id: "a",
      agent_id: "ann",
      tool_name: "look",
      answers: { a: "x", b: "y" },
    });
    expect(answers({ output: "x" }, {})).toEqual({ a: "x", b: null });
    expect(answers({ output: "x" }, { status_code: 500, error: "Away" })).toEqual({
      a: "x",
      b: { status_code: 500, error: "Away" },
    });
    expect(answers({}, { output: null })).toBeUndefined();
    const node = (output: string) => log(call("t", 1, "look", {}), gave("t", { output }, {}));
    expect(firstDivergence(node("x"), node("y"))).toEqual({
      what: "tool",
      call_id: "t",
      a: 4,
      b: 4,
      node_id: "a",
      tool_name: "look",
      answers: { a: "x", b: "y" },
    });
  });

  test("two runs don't diverge at a tool call with other or unknown arguments", () => {
    expect(firstDivergence(tool({ output: "x" }), tool({ output: "y" }, 2))).toBeNull();
    expect(firstDivergence(tool({ output: "x" }), tool({ output: "y" }, 1, "see"))).toBeNull();
    expect(firstDivergence(tool({ output: "x" }), log(call("u", 1), gave("u", { output: "y" })))).toBeNull();
    expect(firstDivergence(log(gave("t", { output: "x" })), log(gave("t", { output: "y" })))).toBeNull();
    expect(firstDivergence(tool({ output: "x" }), tool({ output: "x" }))).toBeNull();
  });

  test("the first divergence is the earliest of several", () => {
    const two = (one: string, other: string) =>
      log(call("t", 1), gave("t", { output: one }), call("u", 2), gave("u", { output: other }));
    expect(firstDivergence(two("x", "x"), two("y", "y"))?.call_id).toBe("t");
    expect(firstDivergence(two("x", "x"), two("x", "y"))?.call_id).toBe("u");
  });

  const begun = of(
    "a",
    "agent_started",
    { role_name: "W", output_keys: [], limits: { max_iterations: 3 } },
    at,
  );
  const reply = (content: string, tools: string[] = []) =>
    of(
      "a",
      "message_added",
      {
        message: {
          role: "assistant",
          content,
          ...(tools.length
            ? { tool_calls: tools.map((tool_name) => ({ id: "i", tool_name, args: {} })) }
            : {}),
        },
        origin: "template",
      },
      at,
    );
  const asked = of(
    "a",
    "llm_call_started",
    { purpose: "task", attempt: 1, message_count: 1 },
    { ...at, call_id: "m" },
  );
  const compareReplies = (content: string, tools: string[] = [], model = "m1") => {
    const event = spent("a", 0) as NewEvent & { type: "llm_call_completed" };
    const tool_calls = tools.map((tool_name) => ({ id: "i", tool_name, args: {} }));
    return { ...event, call_id: "m", payload: { ...event.payload, content, model, tool_calls } };
  };
  test("two runs diverge at a model that got the same prompt and returned other text or tool calls", () => {
    const model = (answer: NewEvent, before = reply("Hi")) => log(begun, before, asked, answer);
    const answersOf = (a: NewEvent, b: NewEvent) => firstDivergence(model(a), model(b))?.answers;
    expect(answersOf(compareReplies("x"), compareReplies("y"))).toEqual({ a: "x", b: "y" });
    expect(answersOf(compareReplies("x", ["look"]), compareReplies("x"))).toEqual({
      a: { content: "x", calls: [{ tool_name: "look", args: {} }] },
      b: "x",
    });
    expect(answersOf(compareReplies("x", ["look"]), compareReplies("x", ["look"]))).toBeUndefined();
    expect(answersOf(compareReplies("x"), compareReplies("y", [], "m2"))).toBeUndefined();
    expect(firstDivergence(model(compareReplies("x")), model(compareReplies("y"), reply("Ho")))).toBeNull();
    expect(
      firstDivergence(
        model(compareReplies("x"), reply("Hi", ["look"])),
        model(compareReplies("y"), reply("Hi", ["see"])),
      ),
    ).toBeNull();
  });
});
