import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTrpc } from "@/components/trpc";
import { newIsToolKnown } from "@/server/domain/crew-tools";
import { crewUses } from "@/server/domain/crew-use";
import type { WorkflowGraph } from "@/server/domain/graph";
import type { Surroundings } from "@/server/domain/problems";
import { useKnownPrices } from "./use-known-prices";

/** What the installation has of what a drawing names: prices, tools, crews. Crews are asked for only where one is named. */
export function useSurroundings(graph: WorkflowGraph): Surroundings {
  const trpc = useTrpc();
  const isPriceKnown = useKnownPrices(graph);
  const tools = useQuery(trpc.tools.names.queryOptions()).data;
  const namesCrews = crewUses(graph).size > 0;
  const crews = useQuery(trpc.crews.list.queryOptions(undefined, { enabled: namesCrews })).data;
  return useMemo(() => {
    const ids = crews && new Set(crews.map(({ id }) => id));
    return {
      isPriceKnown,
      isToolKnown:
        tools &&
        newIsToolKnown(
          tools.tools.map(({ name }) => name),
          tools.mcp_servers,
        ),
      isCrewKnown: ids && ((id) => ids.has(id)),
    };
  }, [isPriceKnown, tools, crews]);
}
