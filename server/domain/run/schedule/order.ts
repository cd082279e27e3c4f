import { must } from "@/server/domain/base/must";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { Activation, RunState } from "..";

/** Which of two activations comes first, by the workflow and by their causes; never by the clock. */

/**
 * The position of an activation in the order that the workflow defines, independent of timing: a loop as a whole at the
 * position of its header, inside it by iteration. Causes come before their effects, except in loops with two entries.
 */
function placeOf(a: Analysis, { node_id, rounds }: Activation): number[] {
  const place = a.around(node_id).flatMap((header, at) => [must(a.position, header), rounds?.[at] ?? 0]);
  return [...place, must(a.position, node_id)];
}

/** Whether one activation has its place before another. Of one node in one round the causes decide. */
function isBefore(a: Analysis, s: RunState, one: string, other: string): boolean {
  for (let [x, y] = [s.activations[one], s.activations[other]]; x && y && x !== y; ) {
    const [here, there] = [placeOf(a, x), placeOf(a, y)];
    const at = here.findIndex((step, k) => step !== there[k]);
    if (at >= 0 || here.length !== there.length) return at >= 0 && must(here, at) < (there[at] ?? -1);
    const causes = [s.activations[x.causes[0] ?? ""], s.activations[y.causes[0] ?? ""]] as const;
    if (!causes[0] || !causes[1] || causes[0] === causes[1]) return x.order < y.order;
    [x, y] = causes;
  }
  return false;
}

/** Before how many of the values that were merged into a key already one of this activation has its place. */
export function placesBefore(a: Analysis, s: RunState, activationId: string, key: string): number {
  const parts = s.merged[key]?.parts ?? [];
  let at = parts.length;
  while (at > 0 && isBefore(a, s, activationId, must(parts, at - 1).writer)) at--;
  return parts.length - at;
}

/** Whether one activation comes after another along the tokens: the other is among its causes' causes. */
export function knows(s: RunState, activationId: string, earlier: string): boolean {
  if (activationId === earlier || s.activations[activationId]?.causes.includes(earlier)) return true;
  const target = s.activations[earlier];
  if (!target) return true;
  const open = [activationId];
  const seen = new Set(open);
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const cause of s.activations[id]?.causes ?? []) {
      if (cause === earlier) return true;
      const known = s.activations[cause];
      // Causes come before their effects, so older ones than the target cannot lead to it.
      if (!known || known.order < target.order || seen.has(cause)) continue;
      seen.add(cause);
      open.push(cause);
    }
  return false;
}

/** Whether one activation is later than another in the workflow's order; for the same node, by number. */
export function isLater(a: Analysis, s: RunState, one: string, other: string): boolean {
  const x = must(s.activations, one);
  const y = must(s.activations, other);
  if (x.node_id === y.node_id)
    return Number(one.slice(one.lastIndexOf("#") + 1)) > Number(other.slice(other.lastIndexOf("#") + 1));
  return must(a.position, x.node_id) > must(a.position, y.node_id);
}
