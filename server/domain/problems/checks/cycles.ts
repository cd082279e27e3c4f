import { lastOf, must } from "@/server/domain/base/must";
import { ruleOf } from "@/server/domain/graph/rule-of-node";
import { getNodeKind, writtenKeys } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import type { Check } from "../check";
import { named, quoted } from "../names";

/** Loops that never end, have no way out or decide the same in every round. */
export function checkCycles(check: Check): void {
  const { graph, analysis, report } = check;
  // A node may stand at the way out of many loops: what it reads is read once.
  const deciding = new Map<string, string[] | null>();
  // Only what is always taken: no router, no condition, no error edge.
  const next = (id: string) =>
    (analysis.outgoing.get(id) ?? []).filter((edge) => {
      const isPlain = edge.kind !== "error" && edge.condition === undefined && !edge.condition_name;
      return isPlain && !getNodeKind(must(graph.nodes, id).node_type).routes;
    });
  const endless = circles(analysis.order, (id) => next(id).map((edge) => edge.target_node_id));
  const inEndless = new Set(endless.flat());
  for (const ids of endless)
    report.error(
      "E_UNCONDITIONAL_CYCLE",
      { kind: "node", id: must(ids, 0) },
      ids.length === 1
        ? `${named(graph, must(ids, 0))} connects back to itself unconditionally and would run forever. Add a router to the loop.`
        : `${ids
            .slice(0, 4)
            .map((id) => named(graph, id))
            .join(
              ", ",
            )}${ids.length > 4 ? " and more" : ""} form an unconditional loop and would run forever. Add a router to the loop.`,
    );
  for (const [header, body] of analysis.loops) {
    if ([...body].some((id) => inEndless.has(id))) continue;
    const at = { kind: "node" as const, id: header };
    const leaving = [...body].flatMap((id) =>
      (analysis.outgoing.get(id) ?? []).filter((edge) => !body.has(edge.target_node_id)),
    );
    if (leaving.length === 0) {
      report.warning(
        "W_LOOP_WITHOUT_EXIT",
        at,
        `The loop at ${named(graph, header)} has no exit and runs until it reaches a limit. Add an exit.`,
      );
      continue;
    }
    const reads = new Set<string>();
    let isFixed = true;
    for (const id of new Set(leaving.map((edge) => edge.source_node_id))) {
      let decided = deciding.get(id);
      if (decided === undefined) {
        decided = decidingKeys(check, id);
        deciding.set(id, decided);
      }
      if (decided === null) isFixed = false;
      else for (const key of decided) reads.add(key);
    }
    if (!isFixed) continue;
    const written = new Set([...body].flatMap((id) => [...writtenKeys(must(graph.nodes, id))]));
    if (![...reads].some((key) => written.has(key)))
      report.warning(
        "W_LOOP_WITHOUT_PROGRESS",
        at,
        reads.size === 0
          ? `The exit condition of the loop at ${named(graph, header)} never changes. Use a value that the loop writes.`
          : `No node in the loop at ${named(graph, header)} writes ${quoted([...reads])}, which its exit condition uses, so every iteration would end the same way. Use a value that the loop writes.`,
      );
  }
}

/** The state keys that decide where a node goes on; null where something else may decide too. */
function decidingKeys({ graph, analysis, reading }: Check, id: string): string[] | null {
  const node = must(graph.nodes, id);
  const kind = getNodeKind(node.node_type);
  const edges = analysis.outgoing.get(id) ?? [];
  if (!reading.ofNode(id) || edges.some((edge) => edge.kind === "error" || !reading.ofEdge(edge.id)))
    return null;
  const texts: string[] = [];
  const keys: string[] = [];
  if (kind.routes) {
    const expressions = kind.expressions?.(node.config) ?? [];
    const rule = ruleOf(node, kind);
    if (expressions.length === 0 && !rule) return null;
    texts.push(...expressions.map(({ expression }) => expression));
    if (rule) keys.push(...rule.reads);
  } else {
    texts.push(...edges.flatMap(({ condition }) => (condition === undefined ? [] : [condition])));
    keys.push(...edges.flatMap(({ condition_name }) => (condition_name ? [condition_name] : [])));
  }
  for (const text of texts) {
    if (/\b(nodes|run)\b/.test(text) || node.input_mapping) return null;
    for (const { key } of expressionReads(text)) keys.push(key);
    // `state` itself, as in state[input.key]: anything may decide.
    if (expressionReads(text).length === 0 && /\b(state|input)\b/.test(text)) return null;
  }
  return keys;
}

/** The circles of a graph: its strongly connected parts of more than one node, or with an edge to itself. */
function circles(ids: readonly string[], next: (id: string) => readonly string[]): string[][] {
  const found: string[][] = [];
  const number = new Map<string, number>();
  const low = new Map<string, number>();
  const onStack = new Set<string>();
  const stack: string[] = [];
  for (const root of ids) {
    if (number.has(root)) continue;
    // Tarjan's algorithm with its own stack: a chain of a thousand nodes must not overflow ours.
    const work: { id: string; to: readonly string[]; at: number }[] = [];
    const enter = (id: string) => {
      number.set(id, number.size);
      low.set(id, must(number, id));
      stack.push(id);
      onStack.add(id);
      work.push({ id, to: next(id), at: 0 });
    };
    enter(root);
    while (work.length > 0) {
      const top = lastOf(work);
      const to = top.to[top.at++];
      if (to !== undefined) {
        if (!number.has(to)) enter(to);
        else if (onStack.has(to)) low.set(top.id, Math.min(must(low, top.id), must(number, to)));
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent) low.set(parent.id, Math.min(must(low, parent.id), must(low, top.id)));
      if (low.get(top.id) !== number.get(top.id)) continue;
      const part = stack.splice(stack.indexOf(top.id));
      for (const id of part) onStack.delete(id);
      if (part.length > 1 || top.to.includes(top.id)) found.push(part);
    }
  }
  return found;
}
