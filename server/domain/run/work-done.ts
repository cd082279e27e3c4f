import { newRecord } from "@/server/domain/base/json";
import type { PastCounts } from "@/server/domain/crew/past-work";
import { isCrewNode } from "@/server/domain/nodes";
import type { RunState } from "./state";

/** What one member of one crew did in a run. */
export interface WorkDone extends PastCounts {
  node_id: string;
  /** The crew of the library that it works in; empty where the node has its own. */
  crew_id: string;
  agent_id: string;
  role_name: string;
}

/**
 * What the members of the run's crews did, for runs after it. Whoever was stopped or never came to an end counts for
 * nothing, nor do judges, which are no members.
 */
export function workDone(s: RunState): WorkDone[] {
  const found = newRecord<WorkDone>();
  const entry = (activation: string, agent_id: string): WorkDone | undefined => {
    const role_name = s.crews[activation]?.members.find((one) => one.agent_id === agent_id)?.role_name;
    const node_id = s.activations[activation]?.node_id;
    const node = node_id === undefined ? undefined : s.graph.nodes[node_id];
    if (role_name === undefined || !node || !isCrewNode(node)) return undefined;
    return (found[JSON.stringify([node.id, agent_id])] ??= {
      node_id: node.id,
      crew_id: node.config.crew_id_or_config_ref ?? "",
      agent_id,
      role_name,
      done: 0,
      failed: 0,
      sent_back: 0,
    });
  };
  for (const { activation_id, agent_id, role_name, status } of Object.values(s.agents)) {
    const is = COUNTED[status];
    const of = is && entry(activation_id, agent_id);
    if (of && of.role_name === role_name) of[is]++;
  }
  for (const { activation_id, agent_id, requested, answered } of Object.values(s.interactions)) {
    // A question about a result shows it.
    const isOnResult = requested.kind === "review" && requested.args?.output !== undefined;
    if (!isOnResult || answered?.answer !== "reject" || agent_id === undefined) continue;
    const of = entry(activation_id, agent_id);
    if (of) of.sent_back++;
  }
  return Object.values(found);
}

/** The work done beyond what was counted already. Repeated work counts with its latest result. */
export function workSince(done: readonly WorkDone[], counted: readonly WorkDone[]): WorkDone[] {
  return done.map((one) => {
    const before = counted.find(
      ({ node_id, agent_id }) => node_id === one.node_id && agent_id === one.agent_id,
    );
    if (!before) return one;
    return {
      ...one,
      done: one.done - before.done,
      failed: one.failed - before.failed,
      sent_back: one.sent_back - before.sent_back,
    };
  });
}

/** As what each end of an agent's work counts. */
const COUNTED: Readonly<Record<string, "done" | "failed" | undefined>> = {
  completed: "done",
  handed_off: "done",
  failed: "failed",
  rejected: "failed",
};
