import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { complete } from "./outcomes";
import { at, done, passed, running, took } from "./testing";

describe("the routes of a router", () => {
  const router = (text: string, config: JsonObject = {}) =>
    draw(text, { r: { config: { kind: "value", value: "state.r", mode: "first", ...config } } });
  const takenEdges = (graph: WorkflowGraph, labels?: string[]) => () =>
    done(graph, "r", { output: {}, ...(labels ? { labels } : {}) }).flatMap((event) =>
      event.type === "edge_taken"
        ? [event.payload.edge_id]
        : event.type === "node_failed"
          ? [event.payload.error.message]
          : [],
    );
  const two = "start > r; r yes> a > end; r no> b > end";
  const none = (what: string) => [
    `r chose ${what}, but no connection has that label. Add one with that label, or a default connection.`,
  ];
  test.each<[string, () => string[], string[]]>([
    ["one label", takenEdges(router(two), ["no"]), ["e3"]],
    ["several labels of which only the first counts", takenEdges(router(two), ["yes", "no"]), ["e1"]],
    ["several labels that all count", takenEdges(router(two, { mode: "all" }), ["yes", "no"]), ["e1", "e3"]],
    ["a label without a route", takenEdges(router(two), ["maybe"]), none('"maybe"')],
    ["no label", takenEdges(router(two)), none("nothing")],
    [
      "a label without a route but with an else route",
      takenEdges(router("start > r; r yes> a > end; r else> b > end"), ["maybe"]),
      ["e3"],
    ],
    [
      "a label without a route but with a default label",
      takenEdges(router(two, { default_label: "no" }), ["maybe"]),
      ["e3"],
    ],
    [
      "a label without a route but with an unlabeled route",
      takenEdges(router("start > r; r yes> a > end; r > b > end"), ["maybe"]),
      ["e3"],
    ],
    [
      "the label of a route next to an unlabeled route",
      takenEdges(router("start > r; r yes> a > end; r > b > end"), ["yes"]),
      ["e1"],
    ],
    [
      "a label without a route but with an error edge",
      takenEdges(router("start > r; r !> a > end; r yes> b > end"), ["maybe"]),
      [...none('"maybe"'), "e1"],
    ],
  ])("a router takes the matching edges for %s", (_what, taken, wanted) => {
    expect(taken()).toEqual(wanted);
  });

  test("a router records its decision and the reason before it completes", () => {
    const graph = router(two);
    expect(done(graph, "r", { output: {}, labels: ["yes"], why: { reason: "so", confidence: 0.5 } })).toEqual(
      [
        {
          type: "router_decided",
          ...at("r"),
          payload: { kind: "value", labels: ["yes"], reason: "so", confidence: 0.5 },
        },
        { type: "node_completed", ...at("r"), payload: { output: {}, written_keys: [], labels: ["yes"] } },
        took("r", "a", "e1", { label: "yes" }),
        passed("r", "b", "e3"),
      ],
    );
  });

  test("a router takes the route that a person chose, regardless of its own choice", () => {
    const graph = router(two);
    const s = running(graph, "r");
    const sent = { ...s, activations: { "r#1": { ...s.activations["r#1"]!, next: "b" } } };
    expect(complete(analyse(graph), sent, "r#1", { output: {}, labels: ["maybe"] }).slice(2)).toEqual([
      passed("r", "a", "e1"),
      took("r", "b", "e3", { label: "no" }),
    ]);
  });
});

describe("edges with conditions", () => {
  const plain = draw("start > a > b > end; a > c > end");
  const withEdges = (one: object, other: object = {}): WorkflowGraph => ({
    ...plain,
    edges: plain.edges.map((edge) => ({
      ...edge,
      ...(edge.id === "e1" ? one : edge.id === "e3" ? other : {}),
    })),
  });
  const taken =
    (graph: WorkflowGraph, output: JsonObject = {}, state: JsonObject = {}) =>
    () => {
      const s = running(
        graph,
        "a",
        {},
        { type: "state_initialized", payload: { state, defaults_applied: [] } },
      );
      return complete(analyse(graph), s, "a#1", { output }).flatMap((event) =>
        event.type === "edge_taken"
          ? [event.payload.edge_id]
          : event.type === "node_failed"
            ? [event.payload.error.message]
            : [],
      );
    };
  const large = { condition: "output.a > 2" };
  const otherwise = { is_default: true };
  test.each<[string, () => string[], string[]]>([
    ["are taken if the condition is true", taken(withEdges(large), { a: 3 }), ["e1", "e3"]],
    ["are not taken if the condition is false", taken(withEdges(large), { a: 2 }), ["e3"]],
    [
      "see the state including the latest output",
      taken(withEdges({ condition: "state.a > state.n" }), { a: 3 }, { n: 2, a: 0 }),
      ["e1", "e3"],
    ],
    ["exclude the default edge if a condition is true", taken(withEdges(large, otherwise), { a: 3 }), ["e1"]],
    [
      "include the default edge if no condition is true",
      taken(withEdges(large, otherwise), { a: 2 }),
      ["e3"],
    ],
    [
      "are not taken if no condition is true and there is no default",
      taken(withEdges(large, large), { a: 2 }),
      [],
    ],
    [
      "read a named flag from the output",
      taken(withEdges({ condition_name: "go" }), { go: true }),
      ["e1", "e3"],
    ],
    [
      "read a named flag from the state",
      taken(withEdges({ condition_name: "go" }), {}, { go: true }),
      ["e1", "e3"],
    ],
    [
      "need a flag to be exactly true",
      taken(withEdges({ condition_name: "go" }), { go: "yes" }, { go: 1 }),
      ["e3"],
    ],
    [
      "need both the flag and the condition",
      taken(withEdges({ condition_name: "go", ...large }), { go: true, a: 1 }),
      ["e3"],
    ],
    [
      "report a condition that can't be evaluated",
      taken(withEdges({ condition: 'int("x") > 1' }), { a: 1 }),
      [
        expect.stringMatching(
          /^The condition of the connection from a to b \(.*int.*\) can't be evaluated: /,
        ),
      ],
    ],
  ])("edges with conditions %s", (_what, edges, wanted) => {
    expect(edges()).toEqual(wanted);
  });
});
