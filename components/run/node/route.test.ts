import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { resultLine, routeOf } from "./route";

const graph = draw("start > decide; decide approved> yes; decide rejected> no", {
  decide: {
    node_type: "conditional_router",
    config: { kind: "value", value: "state.status", default_label: "rejected" },
  },
  no: { name: "Rejected" },
});
const line = (labels: string[]) => resultLine(graph, "decide", { labels, output: {} }, 60);

test("a router's card names the edge it took, or its fallback and the unmatched value", () => {
  expect(line(["approved"])).toBe("→ approved");
  expect(line(["rejected"])).toBe("→ rejected");
  expect(line(['{"field":"yes"}'])).toBe('→ rejected (otherwise: {"field":"yes"})');
});

test("a card shows that a person overrode the route", () => {
  expect(resultLine(graph, "decide", { labels: ["approved"], next: "no" }, 60)).toBe(
    "→ Rejected (overridden)",
  );
});

test("a router without a match or fallback shows the value", () => {
  const strict = structuredClone(graph);
  delete (strict.nodes.decide as { config: { default_label?: string } }).config.default_label;
  expect(routeOf(strict, "decide", ["maybe"])).toEqual({ names: [], isFallback: true });
  expect(resultLine(strict, "decide", { labels: ["maybe"], output: {} }, 60)).toBe("→ maybe");
});

test("other nodes show the start of their output", () => {
  expect(resultLine(graph, "yes", { output: { text: "Two words" } }, 5)).toBe("Two w");
  expect(resultLine(graph, "yes", { output: null }, 5)).toBe("");
});

test("a start node shows the initial input, not a later one", () => {
  const asked = draw("start > yes", { start: { output_keys: ["topic", "audience"] } });
  const line = (output: JsonObject) => resultLine(asked, "start", { output }, 60);
  expect(line({ audience: "newcomers", topic: "Bees" })).toBe("Bees");
  expect(line({ audience: "newcomers", topic: "" })).toBe("newcomers");
});
