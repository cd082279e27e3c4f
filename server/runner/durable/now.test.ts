import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, newStage } from "../testing";

test("now is the recorded time of the step, in nodes and on edges, even after a resume", async () => {
  const graph = draw("start > early > w > late > end; late else> other > end_other", {
    early: {
      node_type: "transform",
      config: { set: { early: "string(now)" } },
      output_keys: ["early"],
    },
    late: { node_type: "transform", config: { set: { late: "string(now)" } }, output_keys: ["late"] },
  });
  graph.edges.find(({ target_node_id }) => target_node_id === "end")!.condition =
    "now - timestamp(state.early) < duration('10m') && now >= timestamp(state.late)";
  const whole = newStage();
  const { id, events, state } = await whole.run(graph);
  expect(state.nodes).toMatchObject({ end: { status: "completed" }, end_other: { status: "skipped" } });
  const times = new Set(events.map(({ ts }) => ts));
  for (const key of ["early", "late"]) expect(times).toContain(Date.parse(state.state[key] as string));

  const turns = whole.db.$client.prepare("select max(turn) as last from run_turns").get() as { last: number };
  await new Promise((resolve) => setTimeout(resolve, 5));
  const again = newStage({ db: cutAt(whole, id, turns.last) });
  again.host.recover();
  await again.host.settled(id);
  expect(again.store.state(id)!.state.early).toBe(state.state.early);
  expect(again.store.state(id)!.nodes).toMatchObject({ end: { status: "completed" } });
});
