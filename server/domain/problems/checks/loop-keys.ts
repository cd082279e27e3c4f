import { must } from "@/server/domain/base/must";
import { keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields } from "@/server/domain/graph/run-input";
import { getNodeKind, writtenKeys } from "@/server/domain/nodes";
import { templateReads } from "@/server/domain/text/template/template";
import type { Check } from "../check";
import { named, nameOf } from "../names";

/** Keys that are needed behind a loop and that only nodes of the loop write: it may have gone round no time. */
export function checkLoopKeys({ graph, analysis, report, reading }: Check): void {
  if (analysis.start === null || analysis.loops.size === 0) return;
  const given = new Set([
    ...inputFields(graph).map(({ key }) => key),
    ...Object.entries(stateProperties(graph)).flatMap(([key, schema]) =>
      schema.default === undefined ? [] : [key],
    ),
  ]);
  const writers = new Map<string, string[]>();
  for (const id of analysis.order)
    for (const key of writtenKeys(must(graph.nodes, id))) writers.set(key, [...(writers.get(key) ?? []), id]);
  for (const id of analysis.order) {
    const node = must(graph.nodes, id);
    const kind = getNodeKind(node.node_type);
    // An end hands out what there is.
    if (kind.ends || node.input_mapping) continue;
    const mentioned = reading.ofNode(id)
      ? (kind.templates?.(node.config) ?? []).flatMap(({ template }) =>
          templateReads(template).flatMap(({ key, optional }) => (optional ? [] : [key])),
        )
      : [];
    const needed = [...new Set([...node.input_keys, ...mentioned])].filter(
      (key) => !node.optional_input_keys.includes(key),
    );
    const around = new Set(analysis.around(id));
    for (const key of needed) {
      const from = writers.get(key) ?? [];
      const onlyInLoops =
        from.length > 0 && from.every((writer) => analysis.around(writer).some((loop) => !around.has(loop)));
      if (given.has(key) || !onlyInLoops) continue;
      const here = keysAvailableAt(graph, id, analysis).find((one) => one.key === key);
      if (!here || here.certain) continue;
      const who = from.length === 1 ? named(graph, must(from, 0)) : "nodes of a loop";
      report.warning(
        "W_INPUT_ONLY_IN_LOOP",
        { kind: "node", id, field: "input_keys" },
        `${nameOf(node)} needs "${key}", which only ${who} ${from.length === 1 ? "writes, in a loop" : "write"}. Where a run does not come by it, this node fails with INPUT_MISSING. Read it only if it is there, or give it a value before the loop.`,
        {
          kind: "set_node",
          node_id: id,
          set: {
            input_keys: node.input_keys.filter((other) => other !== key),
            optional_input_keys: [...node.optional_input_keys, key],
          },
          label: `Read "${key}" if there`,
        },
      );
    }
  }
}
