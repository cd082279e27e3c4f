import { describe, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, newStage } from "../testing";

const endless = "state.s.split('').map(a, state.s.split('').map(b, 1).size()).size() > 1";
const step = { node_type: "transform", config: { set: { t: "1" } }, output_keys: ["t"] };

describe("an endless expression", () => {
  const onEdge = draw("start > t > end; t else> end_other", { t: step });
  onEdge.edges.find(({ target_node_id }) => target_node_id === "end")!.condition = endless;
  test.each([
    ["in a node", draw("start > t > end", { t: { ...step, config: { set: { t: endless } } } })],
    ["on an edge", onEdge],
    ["in a node's condition", draw("start > t > end", { t: { ...step, when: endless } })],
  ])("an endless expression %s ends the run with an error that names it", async (_where, graph) => {
    const { state } = await newStage().run(graph, { input: { s: "a".repeat(40_000) } });
    expect(state.run.final_status).toBe("ERROR");
    expect(state.run.error?.message).toContain(`The expression: ${endless.slice(0, 80)}`);
  });
});

test("many heavy nodes yield the thread in between, and a replay pauses alike", async () => {
  const heavy = "state.s.split('').map(a, a + 'x').size() < 0";
  const names = Array.from({ length: 24 }, (_, at) => `n${at}`);
  const graph = draw(
    [
      `start > ${names[0]}`,
      ...names.slice(1).map((name) => `start > ${name}`),
      ...names.map((name) => `${name} > end`),
    ].join("; "),
    Object.fromEntries(names.map((name) => [name, { ...step, when: heavy }])),
  );
  const stage = newStage();
  const input = { s: "a".repeat(14_000) };
  const { id, state } = await stage.run(graph, { input });
  expect(state.run.final_status).toBe("COMPLETED");
  const turns = () =>
    stage.db.$client
      .prepare("select count(*) from run_turns where run_id = ? and key like 'breath#%'")
      .pluck()
      .get(id) as number;
  // How many depends on what else is answered meanwhile; that there are some does not.
  expect(turns()).toBeGreaterThan(2);
  const again = newStage({ db: cutAt(stage, id, turns() - 2) });
  again.host.recover();
  await expect.poll(() => again.store.state(id)?.run.final_status).toBe("COMPLETED");
});
