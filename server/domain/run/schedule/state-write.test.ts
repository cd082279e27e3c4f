import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { completed, created, fold, of, ready, started } from "../testing";
import { complete } from "./outcomes";
import { decide } from "./tokens";

const at = (id: string) => ({ node_id: id, activation_id: `${id}#1` });

describe("parallel branches that write the same key", () => {
  const graph = draw("start > a > end; start > b > end", {
    b: { output_keys: ["a"], config: { set: { a: "1" } } },
  });
  const a = analyse(graph);
  /** What the other one writes after the first has. */
  const second = (first: "a" | "b", config: JsonObject = {}) => {
    const other = first === "a" ? "b" : "a";
    const s = fold(
      created(graph, { config }),
      ready("start"),
      started("start"),
      completed("start"),
      ...["a", "b"].flatMap((id) => [ready(id), started(id)]),
      of(first, "state_patched", { set: { a: "first" }, writer: `${first}#1` }),
      completed(first),
    );
    return complete(a, s, `${other}#1`, { output: { a: "second" } }).filter(
      ({ type }) => type.startsWith("state_") || type === "node_failed",
    );
  };
  const conflict = (writers: [string, string], policy = "topological_order") => ({
    type: "state_conflict",
    ...at(writers[1].slice(0, 1)),
    payload: { key: "a", writers, winner: "b#1", policy },
  });

  test("parallel writes keep the value of the later node in graph order, regardless of timing", () => {
    expect(second("a")).toEqual([
      conflict(["a#1", "b#1"]),
      { type: "state_patched", ...at("b"), payload: { set: { a: "second" }, writer: "b#1" } },
    ]);
    expect(second("b")).toEqual([conflict(["b#1", "a#1"])]);
  });

  test("parallel writes to a key fail the run if the state is strict", () => {
    const [failure, ...rest] = second("a", { strict_state: true });
    expect(rest).toEqual([]);
    expect(failure).toEqual({
      type: "node_failed",
      ...at("b"),
      payload: {
        attempt: 1,
        next: "fail_run",
        error: {
          code: "STATE_INVALID",
          message:
            'Two branches write "a" at the same time (a#1 and b#1). Set a merge rule for the key, or run one branch first.',
          retryable: false,
          user_action: "edit_graph",
          ...at("b"),
        },
      },
    });
  });
});

describe("a join with too few tokens", () => {
  const shortfall = (on_shortfall: string) => {
    const graph = draw("start > r; r yes> a > j > end; r no> b > j", { j: { join: { n: 2, on_shortfall } } });
    const token = { ...of("j", "edge_taken", { edge_id: "e2" }), activation_id: "a#1" } as NewEvent;
    return decide(analyse(graph), fold(created(graph), token));
  };
  test("a join with too few tokens ends the run, is skipped or runs, depending on its settings", () => {
    const shortfallEvent = (action: string) => ({
      type: "join_shortfall",
      node_id: "j",
      payload: { got: 1, need: 2, action, consumes: ["e2"] },
    });
    expect(shortfall("error")).toEqual([shortfallEvent("error")]);
    expect(shortfall("skip")).toEqual([
      shortfallEvent("skip"),
      { type: "node_skipped", node_id: "j", payload: { reason: "join_shortfall" } },
    ]);
    expect(shortfall("fire")).toEqual([
      {
        type: "node_ready",
        node_id: "j",
        activation_id: "j#1",
        payload: { consumes: ["e2"], fired: true },
      },
    ]);
  });
});
