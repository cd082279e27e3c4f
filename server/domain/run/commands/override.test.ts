import { describe, expect, test } from "vitest";
import { analyse } from "@/server/domain/graph/analysis";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { completed, created, failedWith, fold, of, ready, started } from "../testing";
import { commandError } from "./command";
import { overrideNext } from "./override";

const graph = draw("start > r; r yes> b > j > end; r no> c > j; r !> x; b > d", { c: { name: "" } });
const a = analyse(graph);
const begun = [created(graph), ready("r"), started("r")];
const edge = (from: string, to: string) =>
  graph.edges.find(({ source_node_id, target_node_id }) => source_node_id === from && target_node_id === to)
    ?.id ?? "";
const took = (from: string, to: string) =>
  ({ ...of(to, "edge_taken", { edge_id: edge(from, to) }), activation_id: `${from}#1` }) as NewEvent;
const comes = (from: string, to: string) => ready(to, { consumes: [edge(from, to)] });
const done = [...begun, completed("r")];

const errorOf =
  (to: string, events: NewEvent[], activation_id = "r#1") =>
  () =>
    commandError(a, fold(...events), { kind: "override_next", activation_id, to });
const sent = (to: string, events: NewEvent[], activation_id = "r#1") =>
  overrideNext(a, fold(...events), { activation_id, to }, "ann");
const goneOn = "The run has already continued after r. Fork it from an earlier point.";

describe("overrides of the next node", () => {
  test.each<[string, () => string | null, string | null]>([
    ["before the node starts", errorOf("b", begun.slice(0, 2)), null],
    ["while the node is running", errorOf("c", begun), null],
    ["only for an existing activation", errorOf("b", begun, "r#2"), "This run has no r#2."],
    [
      "only along a connection of the node",
      errorOf("end", begun),
      "r isn't connected to end. It's connected to: b, c.",
    ],
    [
      "but not along an error connection",
      errorOf("x", begun),
      "r isn't connected to x. It's connected to: b, c.",
    ],
    [
      "unless the node has no outgoing connections",
      errorOf("b", [...begun, ready("end")], "end#1"),
      "end has no outgoing connections.",
    ],
    [
      "after the node completed, while its token is still on the edge",
      errorOf("c", [...done, took("r", "b")]),
      null,
    ],
    [
      "after the node completed, while the next node has not started",
      errorOf("c", [...done, took("r", "b"), comes("r", "b")]),
      null,
    ],
    [
      "unless the next node has started",
      errorOf("c", [...done, took("r", "b"), comes("r", "b"), started("b")]),
      goneOn,
    ],
    ["unless no token is left after the node", errorOf("c", done), goneOn],
    [
      "unless a join has combined its token with others",
      errorOf(
        "d",
        [created(graph), ready("b"), started("b"), completed("b"), took("b", "j"), comes("b", "j")],
        "b#1",
      ),
      "The run has already continued after b. Fork it from an earlier point.",
    ],
    [
      "after a failure that ended the run only once the node is retried",
      errorOf("c", [...begun, failedWith("r", "fail_run")]),
      "r failed and ended the run. Retry it first.",
    ],
    [
      "unless the node failed and the run continued",
      errorOf("c", [...begun, failedWith("r", "continue")]),
      "r did not finish (failed).",
    ],
    [
      "unless the node was cancelled",
      errorOf("c", [...begun, of("r", "node_cancelled", { reason: "x" })]),
      "r did not finish (cancelled).",
    ],
    [
      "after the node was skipped, while its token is still on the edge",
      errorOf("c", [...begun, of("r", "node_skipped", { reason: "condition" }), took("r", "b")]),
      null,
    ],
    [
      "unless the next node has been retried",
      errorOf("c", [
        ...done,
        took("r", "b"),
        comes("r", "b"),
        started("b"),
        failedWith("b", "fail_run"),
        of("b", "node_retried", { by: "ann" }),
      ]),
      goneOn,
    ],
  ])("the next node can be overridden %s", (_what, actual, wanted) => {
    expect(actual()).toBe(wanted);
  });
});

describe("a run with an overridden route", () => {
  const at = { node_id: "r", activation_id: "r#1" };
  const way = (to: string, label: string) => ({
    type: "edge_taken",
    node_id: to,
    activation_id: "r#1",
    payload: { edge_id: edge("r", to), label },
  });

  test("a route override before its node has ended applies once it has", () => {
    expect(sent("c", begun)).toEqual([{ type: "next_overridden", ...at, payload: { to: "c", by: "ann" } }]);
    expect(fold(...begun, ...sent("c", begun)).activations["r#1"]?.next).toBe("c");
    expect([sent("end", begun), sent("c", begun, "r#2")]).toEqual([[], []]);
  });

  test("a route override after its node has ended takes the token back and cancels the queued node", () => {
    const takes_back = [{ id: edge("r", "b"), target_node_id: "b" }];
    const lies = [...done, took("r", "b")];
    const overridden = { type: "next_overridden", ...at, payload: { to: "c", by: "ann", takes_back } };
    expect(sent("c", lies)).toEqual([overridden, way("c", "no")]);
    const came = [...lies, comes("r", "b")];
    expect(sent("c", came)).toEqual([
      overridden,
      {
        type: "node_cancelled",
        node_id: "b",
        activation_id: "b#1",
        payload: { reason: "A person chose another route." },
      },
      way("c", "no"),
    ]);
    const after = fold(...lies, ...sent("c", lies));
    expect(after.inbox).toEqual({ c: { [edge("r", "c")]: ["r#1"] } });
    expect([...after.parked]).toEqual(["c"]);
    expect(after.edges).toEqual({
      [edge("r", "b")]: { status: "skipped", count: 0 },
      [edge("r", "c")]: { status: "taken", count: 1 },
    });
    expect(after.activations["r#1"]?.next).toBe("c");
  });

  test("a route override moves the pause away from the node that no longer starts", () => {
    const pausedBefore = (node_id: string): NewEvent => ({
      type: "run_paused",
      payload: {
        by: "run",
        reason: "step",
        at: { point: "node_start", node_id, activation_id: `${node_id}#1` },
      },
    });
    const came = [...done, took("r", "b"), comes("r", "b"), pausedBefore("b")];
    const after = fold(...came, ...sent("c", came));
    expect(after.run.paused_at).toMatchObject({ point: "anywhere", reason: "step", by: "run" });
    expect(after.run.paused_at).not.toHaveProperty("node_id");
  });

  test("a route override leaves the tokens of other activations on the same edge", () => {
    const other = { ...took("r", "b"), activation_id: "r#0" } as NewEvent;
    const lies = [...done, other, took("r", "b")];
    const after = fold(...lies, ...sent("c", lies));
    expect(after.inbox.b).toEqual({ [edge("r", "b")]: ["r#0"] });
    expect(after.edges[edge("r", "b")]).toEqual({ status: "taken", count: 1 });
    expect([...after.parked]).toEqual(["b", "c"]);
  });
});
