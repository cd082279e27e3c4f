import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTrpc } from "@/components/trpc";
import { newIsToolKnown, toolFacts } from "@/server/domain/crew/crew-tools";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { agentUses } from "@/server/domain/library/agent-use";
import { crewUses } from "@/server/domain/library/crew-use";
import type { Library } from "@/server/domain/library/library";
import type { ProblemContext } from "@/server/domain/problems/problems";
import { useWithheld } from "./use-grants";
import { useKnownPrices } from "./use-known-prices";

/** What the installation has of what a drawing names: prices, tools, crews, agents. The last two are asked for only where one is named. */
export function useProblemContext(graph: WorkflowGraph): ProblemContext {
  const trpc = useTrpc();
  const isPriceKnown = useKnownPrices(graph);
  const withheld = useWithheld();
  const tools = useQuery(trpc.tools.names.queryOptions()).data;
  const namesCrews = crewUses(graph).size > 0;
  const crews = useQuery(trpc.crews.list.queryOptions(undefined, { enabled: namesCrews })).data;
  const namesAgents = agentUses(graph).size > 0;
  const agents = useQuery(trpc.agents.list.queryOptions(undefined, { enabled: namesAgents })).data;
  const library = useMemo<Library | undefined>(() => {
    // Half a library would call things unknown that are only on their way.
    if ((namesCrews && !crews) || (namesAgents && !agents)) return undefined;
    const crewOf = new Map(crews?.map(({ id, crew }) => [id, crew]));
    const agentOf = new Map(agents?.map(({ id, agent }) => [id, agent]));
    return { crew: (id) => crewOf.get(id), agent: (id) => agentOf.get(id) };
  }, [namesCrews, crews, namesAgents, agents]);
  return useMemo(
    () => ({
      isPriceKnown,
      isToolKnown:
        tools &&
        newIsToolKnown(
          tools.tools.map(({ name }) => name),
          tools.mcp_servers,
        ),
      ...(tools ? toolFacts(tools.tools) : {}),
      library,
      withheld,
      delegatesMayKeepTools: tools?.delegates_may_keep_tools,
    }),
    [isPriceKnown, tools, library, withheld],
  );
}
