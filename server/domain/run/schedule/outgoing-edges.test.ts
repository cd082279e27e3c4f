import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { complete } from "./outcomes";
import { at, done, passed, running, took } from "./testing";

describe("a router that has chosen", () => {
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
    ["several, of which one counts", takenEdges(router(two), ["yes", "no"]), ["e1"]],
    ["several, all of which count", takenEdges(router(two, { mode: "all" }), ["yes", "no"]), ["e1", "e3"]],
    ["a label that no way has", takenEdges(router(two), ["maybe"]), none('"maybe"')],
    ["nothing", takenEdges(router(two)), none("nothing")],
    [
      "a label that no way has beside a way for all else",
      takenEdges(router("start > r; r yes> a > end; r else> b > end"), ["maybe"]),
      ["e3"],
    ],
    [
      "a label that no way has where its settings name one",
      takenEdges(router(two, { default_label: "no" }), ["maybe"]),
      ["e3"],
    ],
    [
      "a label that no way has beside a way without a name",
      takenEdges(router("start > r; r yes> a > end; r > b > end"), ["maybe"]),
      ["e3"],
    ],
    [
      "a label of one way beside a way without a name",
      takenEdges(router("start > r; r yes> a > end; r > b > end"), ["yes"]),
      ["e1"],
    ],
    [
      "nothing, where a failure has a way",
      takenEdges(router("start > r; r !> a > end; r yes> b > end"), ["maybe"]),
      [...none('"maybe"'), "e1"],
    ],
  ])("%s", (_what, taken, wanted) => {
    expect(taken()).toEqual(wanted);
  });

  test("says what it chose and why, before it is done", () => {
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

  test("goes where a person sent it, whatever it chose", () => {
    const graph = router(two);
    const s = running(graph, "r");
    const sent = { ...s, activations: { "r#1": { ...s.activations["r#1"]!, next: "b" } } };
    expect(complete(analyse(graph), sent, "r#1", { output: {}, labels: ["maybe"] }).slice(2)).toEqual([
      passed("r", "a", "e1"),
      took("r", "b", "e3", { label: "no" }),
    ]);
  });
});

describe("the ways out of a node that have conditions", () => {
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
    ["are taken where they hold", taken(withEdges(large), { a: 3 }), ["e1", "e3"]],
    ["are not where they do not", taken(withEdges(large), { a: 2 }), ["e3"]],
    [
      "see the state with what was given just now",
      taken(withEdges({ condition: "state.a > state.n" }), { a: 3 }, { n: 2, a: 0 }),
      ["e1", "e3"],
    ],
    ["leave the default where another holds", taken(withEdges(large, otherwise), { a: 3 }), ["e1"]],
    ["take the default where none holds", taken(withEdges(large, otherwise), { a: 2 }), ["e3"]],
    ["take nothing where none holds and none is the default", taken(withEdges(large, large), { a: 2 }), []],
    [
      "take the named flag of the output",
      taken(withEdges({ condition_name: "go" }), { go: true }),
      ["e1", "e3"],
    ],
    [
      "take the named flag of the state",
      taken(withEdges({ condition_name: "go" }), {}, { go: true }),
      ["e1", "e3"],
    ],
    [
      "need the flag to be true, no less",
      taken(withEdges({ condition_name: "go" }), { go: "yes" }, { go: 1 }),
      ["e3"],
    ],
    [
      "need the flag and the condition",
      taken(withEdges({ condition_name: "go", ...large }), { go: true, a: 1 }),
      ["e3"],
    ],
    [
      "say which cannot be read",
      taken(withEdges({ condition: 'int("x") > 1' }), { a: 1 }),
      [
        expect.stringMatching(
          /^The condition of the connection from a to b \(.*int.*\) can't be evaluated: /,
        ),
      ],
    ],
  ])("%s", (_what, edges, wanted) => {
    expect(edges()).toEqual(wanted);
  });
});
