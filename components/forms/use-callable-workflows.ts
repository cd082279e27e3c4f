import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Answers, useTrpc } from "@/components/trpc";
import type { CalledWorkflows } from "@/server/domain/graph/callable";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { calledBy } from "@/server/domain/nodes";

export type WorkflowInterface = Answers["workflows"]["callable"][number];

/** The workflows that a node can run, by name; undefined while they load. */
export const useCallableWorkflows = (enabled = true): readonly WorkflowInterface[] | undefined =>
  useQuery(useTrpc().workflows.callable.queryOptions(undefined, { enabled })).data;

/** The same by id, for checks; `self`: the workflow at hand. */
export function useCalledWorkflows(self: string, enabled = true): CalledWorkflows | undefined {
  const list = useCallableWorkflows(enabled);
  return useMemo(() => {
    if (!list) return undefined;
    const byId = new Map(list.map((workflow) => [workflow.id, workflow]));
    return { self, find: (id: string) => byId.get(id) };
  }, [list, self]);
}

/** The names of workflows by id, if any node runs one; empty while they load. */
export function useWorkflowNames(graph: WorkflowGraph): ReadonlyMap<string, string> {
  const list = useCallableWorkflows(Object.values(graph.nodes).some((node) => calledBy(node) !== undefined));
  return useMemo(() => new Map(list?.map(({ id, name }) => [id, name])), [list]);
}
