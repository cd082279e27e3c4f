import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTrpc } from "@/components/trpc";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { agentUses } from "@/server/domain/library/agent-use";
import type { AgentListed } from "./fields/agent-choice";

/** The library agents by id, if the workflow uses any; empty while they load. */
export function useNamedAgents(graph: WorkflowGraph | null): ReadonlyMap<string, AgentListed> {
  const enabled = graph !== null && agentUses(graph).size > 0;
  const { data } = useQuery(useTrpc().agents.list.queryOptions(undefined, { enabled }));
  return useMemo(() => new Map(data?.map((listed) => [listed.id, listed])), [data]);
}
