import type { RunState } from "../state";

/** Removes one token per mentioned edge; answers where they came from. */
export function takeTokens(
  s: RunState,
  box: RunState["inbox"],
  node_id: string,
  edge_ids: readonly string[],
): string[] {
  const from: string[] = [];
  const tokens = box[node_id];
  if (tokens)
    for (const edge_id of edge_ids) {
      const queue = tokens[edge_id];
      const source = queue?.shift();
      if (source !== undefined && !from.includes(source)) from.push(source);
      if (queue && queue.length === 0) delete tokens[edge_id];
    }
  if (tokens && isEmpty(tokens)) delete box[node_id];
  if (!s.inbox[node_id] && !s.backbox[node_id]) s.parked.delete(node_id);
  return from;
}

/** Removes the token of one activation from an edge, if it is still there. */
export function dropToken(s: RunState, node_id: string, edge_id: string, activation: string): void {
  for (const box of [s.inbox, s.backbox]) {
    const tokens = box[node_id];
    const queue = tokens?.[edge_id];
    const at = queue?.indexOf(activation) ?? -1;
    if (!tokens || !queue || at < 0) continue;
    queue.splice(at, 1);
    if (queue.length === 0) delete tokens[edge_id];
    if (isEmpty(tokens)) delete box[node_id];
  }
  if (!s.inbox[node_id] && !s.backbox[node_id]) s.parked.delete(node_id);
}

function isEmpty(record: object): boolean {
  for (const _key in record) return false;
  return true;
}
