import { describe, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "./testing";

const endless = "state.s.split('').map(a, state.s.split('').map(b, 1).size()).size() > 1";
const step = { node_type: "transform", config: { set: { t: "1" } }, output_keys: ["t"] };

describe("an expression that would never end, ends its run with an error that names it", () => {
  const onEdge = draw("start > t > end; t else> end_other", { t: step });
  onEdge.edges.find(({ target_node_id }) => target_node_id === "end")!.condition = endless;
  test.each([
    ["in a node", draw("start > t > end", { t: { ...step, config: { set: { t: endless } } } })],
    ["on an edge", onEdge],
    ["as what a node depends on", draw("start > t > end", { t: { ...step, when: endless } })],
  ])("%s", async (_where, graph) => {
    const { state } = await newStage().run(graph, { input: { s: "a".repeat(40_000) } });
    expect(state.run.final_status).toBe("ERROR");
    expect(state.run.error?.message).toContain(`The expression: ${endless.slice(0, 80)}`);
  });
});
