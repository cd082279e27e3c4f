import { isSameJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { keysRead } from "@/server/domain/graph/keys/keys-read";
import { getNodeKind } from "@/server/domain/nodes";
import type { NewEvent } from "./events";
import type { StatePatch } from "./fork/lineage";
import type { Activation, RunState } from "./state";

/** A node that read values which are about to change. */
export interface Reader {
  activation: Activation;
  keys: string[];
}

/** The answers that a run has from outside begin with their attempt. */
export const attemptOf = (key: string): string =>
  key
    .replace(/^answer:/, "")
    .split("/", 2)
    .join("/");

/** Knows which activations read the present value of a key: those that began after it was written. */
export class StateReads {
  private readonly began = new Map<string, number>();
  private readonly written = new Map<string, number>();

  note({ type, activation_id, payload }: NewEvent, seq: number): void {
    if (type === "node_started") this.began.set(activation_id ?? "", seq);
    else if (type === "state_patched")
      for (const key of Object.keys({ ...payload.set, ...payload.changed })) this.written.set(key, seq);
    else if (type === "state_edited") this.change(payload, seq);
    else if (type === "run_forked" && payload.patches.state) this.change(payload.patches.state, seq);
  }

  private change({ set, remove }: StatePatch, seq: number): void {
    for (const key of keysOf({ set, remove })) this.written.set(key, seq);
  }

  /** Running nodes, and those whose newest output is of a value that changes. */
  readersOf(s: RunState, change: StatePatch): Reader[] {
    const changed = keysOf(change).filter((key) => !isSame(s.state[key], change.set[key]));
    return Object.values(s.activations).flatMap((activation): Reader[] => {
      const { id, node_id, status, waiting, pinned } = activation;
      const began = this.began.get(id);
      const node = s.graph.nodes[node_id];
      if (began === undefined || !node || waiting?.for === "retry" || getNodeKind(node.node_type).begins)
        return [];
      const isOver = status === "completed" && !pinned && s.nodes[node_id]?.activation === id;
      if (!isOver && !s.running.has(id)) return [];
      const { required, optional } = keysRead(node);
      const read = new Set([...required, ...optional]);
      const keys = changed.filter((key) => read.has(key) && began > (this.written.get(key) ?? 0));
      return keys.length > 0 ? [{ activation, keys }] : [];
    });
  }
}

const isSame = (was: Json | undefined, now: Json | undefined): boolean =>
  was !== undefined && now !== undefined && isSameJson(was, now);

const keysOf = ({ set, remove }: StatePatch): string[] => [...Object.keys(set), ...remove];

/** Says that a node keeps what it read, since something came of that already. */
export function keptText(
  { graph }: Pick<RunState, "graph">,
  { activation: { node_id }, keys }: Reader,
): string {
  const name = graph.nodes[node_id]?.name || node_id;
  const what = keys.map((key) => `“${key}”`).join(", ");
  return `${name} read ${what} before this change and keeps the old value. To change that, fork the run before ${name}.`;
}
