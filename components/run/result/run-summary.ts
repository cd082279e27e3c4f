import { countOf, formatDuration, formatList } from "@/components/display/format";
import { isApproval, isRejection } from "@/server/domain/base/yes-no";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { formatCost } from "@/server/domain/model/cost";
import { findNodeKind } from "@/server/domain/nodes";
import type { Activation, RunState } from "@/server/domain/run";
import { failedNode } from "@/server/domain/run/result";

/** What one node did on the route: `by` ran, chose `label`, or sent the run to `target`. */
interface Step {
  by: string;
  times: number;
  label?: string;
  target?: string;
}

/**
 * Summarizes a finished run in one line: its route, who decided, and what it took. For example "Approved by
 * ApprovalAgent, then ActionAgent ran · 2 calls · $0 · 1.7 s". Waiting time does not count. Empty until the run has ended.
 */
export function runSummary(state: RunState, waitedMs = 0): string {
  const { status, started_at, finished_at } = state.run;
  if (status !== "finished" || started_at === undefined || finished_at === undefined) return "";
  const route = routeOf(state);
  return [
    ...(route === "" ? [] : [`${route.charAt(0).toUpperCase()}${route.slice(1)}`]),
    countOf(callsOf(state), "call"),
    formatCost(state.totals),
    formatDuration(finished_at - started_at - waitedMs),
  ].join(" · ");
}

/** The model calls of a run and of the runs that its nodes started. */
function callsOf({ calls, activations }: RunState): number {
  const inChildren = Object.values(activations).flatMap(({ children, usage }) =>
    children ? usage.requests : [],
  );
  return inChildren.reduce((sum, requests) => sum + requests, Object.keys(calls).length);
}

function routeOf(state: RunState): string {
  const failed = failedNode(state);
  if (failed !== null) return `failed at ${state.graph.nodes[failed]?.name || failed}`;
  const { final_status } = state.run;
  if (final_status === "CANCELLED") return "cancelled";
  if (final_status === "INCOMPLETE") return "stopped before reaching an end node";
  return clausesOf(stepsOf(state)).join(", then ");
}

/** The completed activations of each node, in order. */
function completedByNode({ activations }: RunState): Map<string, Activation[]> {
  const byNode = new Map<string, Activation[]>();
  for (const one of Object.values(activations).sort((a, b) => a.order - b.order))
    if (one.status === "completed") byNode.set(one.node_id, [...(byNode.get(one.node_id) ?? []), one]);
  return byNode;
}

const chosenLabel = ({ node_type }: WorkflowNode, { labels }: Activation) =>
  findNodeKind(node_type)?.routes ? labels?.join(" and ") : undefined;

function stepsOf(state: RunState): Step[] {
  const steps: Step[] = [];
  for (const [id, activations] of completedByNode(state)) {
    const last = activations.at(-1);
    const node = state.graph.nodes[id];
    if (!last || !node) continue;
    const worker = workerOf(state, last.id);
    const label = chosenLabel(node, last);
    const times = activations.length;
    if (last.next !== undefined) {
      if (worker !== undefined) steps.push({ by: worker, times });
      steps.push({ by: "a person", times: 1, target: state.graph.nodes[last.next]?.name || last.next });
    } else if (label !== undefined) {
      const asked = Object.values(state.interactions).some(({ activation_id }) => activation_id === last.id);
      // A router that only reads an agent's verdict: the agent decided.
      const decider = !asked && steps.at(-1)?.label === undefined ? steps.pop() : undefined;
      const by = asked ? "a person" : (worker ?? decider?.by ?? (node.name || id));
      steps.push({ by, times, label });
    } else if (worker !== undefined) steps.push({ by: worker, times });
  }
  return steps;
}

/** The role that ran in an activation, or the number of crew members that did. */
function workerOf(state: RunState, activationId: string): string | undefined {
  const agents = Object.values(state.agents).filter(({ activation_id }) => activation_id === activationId);
  const crew = state.crews[activationId];
  if (!crew) return agents[0]?.role_name;
  const active = new Set(agents.map(({ agent_id }) => agent_id)).size;
  const all = crew.members.length;
  return active > 0 && active < all ? `${active} of ${all} crew members` : `a crew of ${all}`;
}

/** Workers beyond these are only counted. */
const NAMED = 4;

function clausesOf(steps: readonly Step[]): string[] {
  const clauses: string[] = [];
  let group: string[] = [];
  const endGroup = () => {
    const named =
      group.length > NAMED ? [...group.slice(0, NAMED - 1), `${group.length - NAMED + 1} others`] : group;
    if (group.length > 0) clauses.push(`${formatList(named)} ran`);
    group = [];
  };
  for (const { by, times, label, target } of steps) {
    if (target !== undefined) {
      endGroup();
      clauses.push(`${by} sent the run to ${target}`);
      continue;
    }
    if (label === undefined) {
      group.push(times > 1 ? `${by} (${times} times)` : by);
      continue;
    }
    endGroup();
    const round = times > 1 ? ` in iteration ${times}` : "";
    const verb = isApproval(label)
      ? "approved"
      : isRejection(label)
        ? "rejected"
        : /^\w+ed$/.exec(label)?.[0];
    if (verb === undefined) clauses.push(`${by} chose “${label}”${round}`);
    else clauses.push(clauses.length === 0 ? `${verb} by ${by}${round}` : `${by} ${verb} it${round}`);
  }
  endGroup();
  return clauses;
}
