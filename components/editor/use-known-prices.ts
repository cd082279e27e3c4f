import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTrpc } from "@/components/trpc";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { type ModelChoice, modelUses } from "@/server/domain/library/model-uses";

const keyOf = ({ provider_id = "", model = "" }: ModelChoice) => JSON.stringify([provider_id, model]);

/** Tells whether a model's price is known; asked only where the drawing has a budget in dollars. */
export function useKnownPrices(graph: WorkflowGraph): ((choice: ModelChoice) => boolean) | undefined {
  const trpc = useTrpc();
  const hasBudget = graph.config?.budget?.max_cost_usd != null;
  const choices = useMemo(() => {
    const uses = hasBudget ? modelUses(graph).map(({ choice }) => choice) : [];
    return [...new Map(uses.map((choice) => [keyOf(choice), choice])).values()];
  }, [graph, hasBudget]);
  const { data } = useQuery(
    trpc.providers.knownPrices.queryOptions(choices, { enabled: choices.length > 0 }),
  );
  // The drawing changes with every key; what it asks of the models hardly ever does.
  const asked = choices.map(keyOf).join(" ");
  return useMemo(() => {
    if (!data) return undefined;
    const unknown = new Set(asked.split(" ").filter((_, at) => data[at] === false));
    return (choice) => !unknown.has(keyOf(choice));
  }, [asked, data]);
}
