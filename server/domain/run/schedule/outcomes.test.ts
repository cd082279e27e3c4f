import { describe, expect, test } from "vitest";
import type { RunError } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { complete, fail, isWanted, passThrough } from "./outcomes";
import { at, done, passed, running, took } from "./testing";

const error: RunError = { code: "PROVIDER" as never, message: "Away.", retryable: true, user_action: "none" };
const failed = (id: string, next: string, attempt = 1, more: object = error) => ({
  type: "node_failed",
  ...at(id),
  payload: { attempt, error: { ...more, ...at(id) }, next },
});

describe("a completed node", () => {
  const graph = draw("start > a > b; a > c > end; a !> x");
  const written = (set: JsonObject) => ({
    type: "state_patched",
    ...at("a"),
    payload: { set, writer: "a#1" },
  });
  const end = (output: JsonObject, written_keys: string[], more: object = {}) => ({
    type: "node_completed",
    ...at("a"),
    payload: { output, written_keys, ...more },
  });
  const edgeEvents = [took("a", "b", "e1"), took("a", "c", "e2"), passed("a", "x", "e4")];

  test("a completed node writes its declared keys, warns about others and takes all edges except error edges", () => {
    expect(done(graph, "a", { output: { a: 1 } })).toEqual([
      written({ a: 1 }),
      end({ a: 1 }, ["a"]),
      ...edgeEvents,
    ]);
    expect(done(graph, "a", { output: { a: 1, b: 2, c: 3 } })).toEqual([
      written({ a: 1 }),
      {
        type: "warning",
        ...at("a"),
        payload: {
          code: "OUTPUT_DROPPED",
          message: 'a also returned "b", "c", which it doesn\'t declare; dropped.',
        },
      },
      end({ a: 1, b: 2, c: 3 }, ["a"]),
      ...edgeEvents,
    ]);
    expect(done(graph, "a", { output: {} })).toEqual([end({}, []), ...edgeEvents]);
  });

  test("a completed node records its cost, its pin and additional writes", () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cached_input_tokens: 0,
      reasoning_tokens: 0,
      requests: 1,
      estimated: false,
    };
    expect(
      done(graph, "a", { output: { a: 1 }, writes: { z: 9 }, usage, cost_usd: null, pinned: true }),
    ).toEqual([
      written({ a: 1, z: 9 }),
      end({ a: 1 }, ["a", "z"], { usage, cost_usd: null, pinned: true }),
      ...edgeEvents,
    ]);
  });

  test("a node returns what its output mapping computes, unless it is pinned", () => {
    const mapped = draw("start > a > end", { a: { output_mapping: { a: "output.n + 1" } } });
    const outputs = (given: Parameters<typeof complete>[3]) =>
      done(mapped, "a", given).flatMap((event) =>
        event.type === "node_completed" ? [event.payload.output] : [],
      );
    expect(outputs({ output: { n: 1 } })).toEqual([{ a: 2 }]);
    expect(outputs({ output: { a: 7 }, pinned: true })).toEqual([{ a: 7 }]);
    const [failure, ...rest] = done(mapped, "a", { output: { n: "x" } });
    expect([failure?.type, rest]).toEqual(["node_failed", []]);
    expect(failure?.type === "node_failed" && failure.payload.error.message).toMatch(
      /^The output mapping of "a" in a \(.*output\.n \+ 1.*\) can't be evaluated: /,
    );
  });

  test("a long output is stored as a reference to the state instead of a copy", () => {
    const long = "x".repeat(300);
    expect(done(graph, "a", { output: { a: long } })).toEqual([
      written({ a: long }),
      end({}, ["a"], { from_state: ["a"] }),
      ...edgeEvents,
    ]);
    const longer = `${long}y`;
    const s = running(
      graph,
      "a",
      {},
      { type: "state_initialized", payload: { state: { a: long }, defaults_applied: [] } },
    );
    const [patch] = complete(analyse(graph), s, "a#1", { output: { a: longer } });
    expect(
      patch?.type === "state_patched" && [patch.payload.set, Object.keys(patch.payload.changed ?? {})],
    ).toEqual([{}, ["a"]]);
  });

  test("a node fails if its output exceeds the size limit of the state", () => {
    const most = (max_state_chars: number) =>
      done(graph, "a", { output: { a: "x".repeat(2000) } }, { max_state_chars }).map(({ type }) => type)[0];
    expect([most(100_000), most(1000)]).toEqual(["state_patched", "node_failed"]);
  });
});

describe("a failed node", () => {
  const after = (settings: JsonObject, text = "start > a > b > end", mayRetry = true) => {
    const graph = draw(text, { a: settings });
    return fail(analyse(graph), running(graph, "a"), "a#1", error, undefined, mayRetry);
  };
  const retry = { max_attempts: 2, retry_on: ["PROVIDER"], initial_delay_ms: 100, jitter: 0 };
  test("a failed node is retried within its attempts, for the error codes in its settings", () => {
    expect(after({ retry })).toEqual([
      failed("a", "retry"),
      { type: "node_retry_scheduled", ...at("a"), payload: { attempt: 2, delay_ms: 100 } },
    ]);
    const ends = [failed("a", "fail_run")];
    expect(after({ retry: { ...retry, max_attempts: 1 } })).toEqual(ends);
    expect(after({ retry: { ...retry, retry_on: ["TIMEOUT"] } })).toEqual(ends);
    expect(after({ retry }, undefined, false)).toEqual(ends);
    expect(after({})).toEqual(ends);
  });

  test("a failed node takes its error edge and writes the error to the state", () => {
    const along = [
      failed("a", "error_edge"),
      {
        type: "state_patched",
        ...at("a"),
        payload: { set: { _error: { node_id: "a", code: "PROVIDER", message: "Away." } }, writer: "a#1" },
      },
      passed("a", "b", "e1"),
      took("a", "x", "e3"),
    ];
    expect(after({ on_error: "continue" }, "start > a > b > end; a !> x")).toEqual(along);
    expect(after({ on_error: "error_edge" })).toEqual([failed("a", "fail_run")]);
  });

  test("a failed node continues with its default output, or skips its branch", () => {
    expect(after({ on_error: "continue", default_output: { a: 0 } })).toEqual([
      failed("a", "continue"),
      { type: "state_patched", ...at("a"), payload: { set: { a: 0 }, writer: "a#1" } },
      took("a", "b", "e1"),
    ]);
    expect(after({ on_error: "continue" })).toEqual([failed("a", "continue"), took("a", "b", "e1")]);
    expect(after({ on_error: "skip_branch" })).toEqual([failed("a", "skip_branch"), passed("a", "b", "e1")]);
  });

  test("a failed node ends the run if its default output or an edge condition is invalid", () => {
    const graph = draw("start > a > b > end", { a: { on_error: "continue", default_output: { a: "x" } } });
    const typed = {
      ...graph,
      global_state_schema: { type: "object", properties: { a: { type: "number" } } },
    } as WorkflowGraph;
    const strict = running(typed, "a", { strict_state: true });
    const [one, ...rest] = fail(analyse(typed), strict, "a#1", error);
    expect(one?.type === "node_failed" && [one.payload.next, one.payload.error.code]).toEqual([
      "fail_run",
      "STATE_INVALID",
    ]);
    expect(rest).toEqual([]);
    const now = { ...strict, run: { ...strict.run, edition: 2 } };
    const placed = [strict, now].map((state) => {
      const [failure] = fail(analyse(typed), state, "a#1", error);
      return failure?.type === "node_failed" && failure.payload.error.node_id;
    });
    expect(placed, "older runs go on as they began").toEqual([undefined, "a"]);
    const edges = graph.edges.map((edge) =>
      edge.id === "e1" ? { ...edge, condition: 'int("x") > 1' } : edge,
    );
    const torn = { ...graph, edges };
    const events = fail(analyse(torn), running(torn, "a"), "a#1", error);
    const why = {
      code: "CONFIG",
      message: expect.stringMatching(/^The condition of the connection from a to b/),
    };
    expect(events).toEqual([
      {
        type: "node_failed",
        ...at("a"),
        payload: { attempt: 1, next: "fail_run", error: expect.objectContaining(why) },
      },
    ]);
  });

  test("a failed router continues on its default route", () => {
    const graph = draw("start > r; r yes> b > end; r else> c > end", {
      r: { on_error: "continue", config: { kind: "value", value: "state.r", mode: "all" } },
    });
    expect(fail(analyse(graph), running(graph, "r"), "r#1", error)).toEqual([
      failed("r", "continue"),
      passed("r", "b", "e1"),
      took("r", "c", "e3", { label: "else" }),
    ]);
  });
});

describe("a node with a condition", () => {
  const graph = (when?: string) => draw("start > a > b > end", { a: when === undefined ? {} : { when } });
  const wanted = (when?: string) => {
    const s = running(
      graph(when),
      "a",
      {},
      { type: "state_initialized", payload: { state: { n: 1 }, defaults_applied: [] } },
    );
    return isWanted(s, s.graph.nodes.a!);
  };
  test("a node runs if its condition is true, and fails if it can't be evaluated", () => {
    expect([wanted(), wanted("state.n == 1"), wanted("state.n == 2")]).toEqual([true, true, false]);
    expect(wanted('int("x") == 2')).toEqual({
      error: expect.objectContaining({
        message: expect.stringMatching(/^The condition of a \(.*\) can't be evaluated: /),
      }),
    });
  });

  test("a node whose condition is false is skipped along its edges, or along a router's default route", () => {
    const through = (of: WorkflowGraph, id: string) => passThrough(analyse(of), running(of, id), `${id}#1`);
    const skipped = (id: string) => ({ type: "node_skipped", ...at(id), payload: { reason: "condition" } });
    expect(through(graph("false"), "a")).toEqual({ events: [skipped("a"), took("a", "b", "e1")] });
    const router = draw("start > r; r yes> b > end; r else> c > end");
    expect(through(router, "r")).toEqual({
      events: [skipped("r"), passed("r", "b", "e1"), took("r", "c", "e3", { label: "else" })],
    });
    const torn = {
      ...graph(),
      edges: graph().edges.map((edge) => ({ ...edge, condition: 'int("x") > 1' })),
    };
    expect(through(torn, "a")).toEqual({ error: expect.objectContaining({ code: "CONFIG" }) });
  });
});
