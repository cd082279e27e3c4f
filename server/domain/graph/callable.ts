import { getNodeKind, writtenKeys } from "../nodes";
import { analyse } from "./analysis";
import { calledWorkflows } from "./called";
import type { WorkflowGraph } from "./graph";
import { stateProperties } from "./keys/state-properties";
import { inputFields, type RunInputField } from "./run-input";

/** What others need to know of a workflow in order to run it. */
export interface CallableWorkflow {
  id: string;
  name: string;
  inputs: readonly RunInputField[];
  /** The keys of its output. */
  outputs: readonly string[];
  /** The ids of the workflows that it runs. */
  calls: readonly string[];
}

/** The workflows of an installation. `self`: the id of the one at hand, if it is saved. */
export interface CalledWorkflows {
  self?: string | undefined;
  find(id: string): CallableWorkflow | undefined;
  /** How many errors a workflow has, which also keep those from running that run it; absent: unknown. */
  errors?(id: string): number;
}

/** A workflow as others see it. */
export const toCallable = (graph: WorkflowGraph): Omit<CallableWorkflow, "id" | "name"> => ({
  // Definitions that schemas share stay in the workflow itself.
  inputs: inputFields(graph).map(({ around: _around, ...input }) => input),
  outputs: outputsOf(graph),
  calls: calledWorkflows(graph),
});

/** The keys that a run of it may return: those that its ends name, or all of the state. */
export function outputsOf(graph: WorkflowGraph): string[] {
  const reached = analyse(graph).order.flatMap((id) => graph.nodes[id] ?? []);
  return [
    ...new Set(
      reached.flatMap((node) => {
        const end = getNodeKind(node.node_type).ends?.(node.config, node);
        if (!end) return [];
        if (end.givesAll)
          return [
            ...Object.keys(stateProperties(graph)),
            ...inputFields(graph).map(({ key }) => key),
            ...reached.flatMap(writtenKeys),
          ];
        return node.input_mapping
          ? Object.keys(node.input_mapping)
          : [...node.input_keys, ...node.optional_input_keys];
      }),
    ),
  ];
}

/** What running a workflow leads to. */
interface CallPath {
  /** Whether it leads back to itself. */
  isCycle: boolean;
  /** The names along the way, the workflow at hand first; the longest one, or the one that is a cycle. */
  names: string[];
}

/** Where running `id` leads, from the workflow at hand, called `name`. */
export function callPath(workflows: CalledWorkflows, name: string, id: string): CallPath {
  const longest = new Map<string, string[]>();
  const walk = (at: string, above: readonly string[]): string[] | { cycle: string[] } => {
    if (above.includes(at)) return { cycle: [...above.slice(above.indexOf(at)), at] };
    const known = longest.get(at);
    if (known) return known;
    let below: string[] = [];
    for (const next of at === workflows.self && above.length > 0 ? [] : (workflows.find(at)?.calls ?? [])) {
      const found = walk(next, [...above, at]);
      if ("cycle" in found) return found;
      if (found.length > below.length) below = found;
    }
    const way = [at, ...below];
    longest.set(at, way);
    return way;
  };
  const nameOf = (one: string) => (one === workflows.self ? name : workflows.find(one)?.name) ?? one;
  const way = walk(id, workflows.self === undefined ? [] : [workflows.self]);
  return "cycle" in way
    ? { isCycle: true, names: way.cycle.map(nameOf) }
    : { isCycle: false, names: [name, ...way.map(nameOf)] };
}

/** The first workflow with errors, of one and those that it runs, and how many it has. There must be no cycle. */
export function brokenBelow(
  workflows: CalledWorkflows,
  id: string,
): { workflow: CallableWorkflow; errors: number } | undefined {
  const workflow = workflows.find(id);
  const errors = workflows.errors?.(id) ?? 0;
  if (workflow && errors > 0) return { workflow, errors };
  for (const next of workflow?.calls ?? []) {
    const broken = brokenBelow(workflows, next);
    if (broken) return broken;
  }
  return undefined;
}

type SavedWorkflow = { id: string; name: string; graph: WorkflowGraph };

const interfaces = new WeakMap<WorkflowGraph, Omit<CallableWorkflow, "id" | "name">>();

/** The workflow as nodes of others see it. Computed once per revision: the store keeps its graph. */
export function interfaceOf({ id, name, graph }: SavedWorkflow): CallableWorkflow {
  let known = interfaces.get(graph);
  if (!known) interfaces.set(graph, (known = toCallable(graph)));
  return { id, name, ...known };
}

/** The saved workflows, for checking one of them. */
export const workflowsAround = (
  workflows: { find(id: string): SavedWorkflow | undefined },
  self: string,
): CalledWorkflows => ({
  self,
  find(id) {
    const found = workflows.find(id);
    return found && interfaceOf(found);
  },
});
