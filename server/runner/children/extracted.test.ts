import { expect, test } from "vitest";
import { extractNodes } from "@/server/domain/graph/extract";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { seeded } from "@/server/domain/testing/simulate";
import { newStage } from "../testing";

/** A small workflow without loops: each node writes a different key and reads keys that may exist. */
function randomGraph(random: () => number): WorkflowGraph {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const count = 3 + Math.floor(random() * 5);
  const ids = Array.from({ length: count }, (_, at) => (random() < 0.2 ? `r${at}` : `n${at}`));
  const lines: string[] = [`start > ${ids[0]}`];
  ids.forEach((id, at) => {
    const later = [...ids.slice(at + 1, at + 4), "end"];
    const [first, second] = [pick(later), pick(later)];
    if (id.startsWith("r")) lines.push(`${id} left> ${first}`, `${id} else> ${second}`);
    else lines.push(...[...new Set(random() < 0.3 ? [first, second] : [first])].map((to) => `${id} > ${to}`));
  });
  const own = ids.filter((id) => id.startsWith("n"));
  const last = own.filter(() => random() < 0.4);
  return draw(lines.join("; "), {
    start: { output_keys: ["topic"] },
    end: random() < 0.8 ? { optional_input_keys: [...last, "topic"] } : {},
    ...Object.fromEntries(
      ids.map((id, at) => {
        const key = random() < 0.6 ? "topic" : pick(["topic", ...ids.slice(0, at)]);
        const read = `has(state.${key}) ? string(state.${key}) : "none"`;
        if (id.startsWith("r"))
          return [id, { config: { kind: "value", value: `size(${read}) > 8 ? "left" : "right"` } }];
        return [
          id,
          {
            config: { set: { [id]: `"${id}(" + (${read}) + ")"` } },
            ...(random() < 0.2 ? { join: "any" } : {}),
          },
        ];
      }),
    ),
  });
}

const withoutRepeated = (state: Readonly<Record<string, unknown>>, keys: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(state).filter(([key]) => keys.has(key)));

test("a run has the same result before and after any nodes are extracted", async () => {
  let moved = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed);
    const graph = randomGraph(random);
    const reached = new Set(graph.edges.map(({ target_node_id }) => target_node_id));
    const ids = [...reached].filter((id) => id !== "end" && random() < 0.5);
    const found = extractNodes(graph, ids);
    if ("reason" in found) continue;
    moved++;
    const before = await newStage().run(graph, { input: { topic: "sun" } });
    const after = await newStage().run(found.replaced("part", "Part").graph, {
      input: { topic: "sun" },
      workflows: { part: found.part },
    });
    const output = after.state.run.output ?? {};
    const kept = new Set(Object.keys(output));
    const drawing = JSON.stringify({
      seed,
      ids,
      edges: graph.edges.map((e) => [e.source_node_id, e.edge_label, e.target_node_id]),
    });
    expect([after.state.run.final_status, after.state.run.error?.message, output], drawing).toEqual([
      before.state.run.final_status,
      before.state.run.error?.message,
      withoutRepeated(before.state.run.output ?? {}, kept),
    ]);
  }
  expect(moved).toBeGreaterThan(50);
});
