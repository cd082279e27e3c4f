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

test("a router's card names the edge that was taken, and a fallback with the value that matched none", () => {
  expect(line(["approved"])).toBe("→ approved");
  expect(line(["rejected"])).toBe("→ rejected");
  expect(line(['{"field":"yes"}'])).toBe('→ rejected (otherwise: {"field":"yes"})');
});

test("where a person sent the run elsewhere, the card says so", () => {
  expect(resultLine(graph, "decide", { labels: ["approved"], next: "no" }, 60)).toBe(
    "→ Rejected (overridden)",
  );
});

test("without a match and without a fallback, the value itself is shown", () => {
  const strict = structuredClone(graph);
  delete (strict.nodes.decide as { config: { default_label?: string } }).config.default_label;
  expect(routeOf(strict, "decide", ["maybe"])).toEqual({ names: [], isFallback: true });
  expect(resultLine(strict, "decide", { labels: ["maybe"], output: {} }, 60)).toBe("→ maybe");
});

test("other nodes show the start of their output", () => {
  expect(resultLine(graph, "yes", { output: { text: "Two words" } }, 5)).toBe("Two w");
  expect(resultLine(graph, "yes", { output: null }, 5)).toBe("");
});

test("a start shows the first input that was given, not the last", () => {
  const asked = draw("start > yes", { start: { output_keys: ["topic", "audience"] } });
  const line = (output: JsonObject) => resultLine(asked, "start", { output }, 60);
  expect(line({ audience: "newcomers", topic: "Bees" })).toBe("Bees");
  expect(line({ audience: "newcomers", topic: "" })).toBe("newcomers");
});
