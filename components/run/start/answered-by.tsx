"use client";

import { useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import { formatList } from "@/components/display/format";
import { useTrpc } from "@/components/trpc";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { modelsAskedFor } from "./run-form";

/** The model that a run will use, and whether it is the demo. */
export function AnsweredBy({ graph }: { graph: WorkflowGraph }) {
  const { data } = useQuery(useTrpc().providers.list.queryOptions());
  const asked = modelsAskedFor(graph);
  if (asked.length === 0)
    return <p className="text-[13px] text-ink-3">This workflow doesn't call a model.</p>;
  if (!data) return <p className="text-[13px] text-ink-3">&nbsp;</p>;
  const answering = asked.map(({ provider_id, model }) => {
    const provider = data.providers.find((one) => (provider_id ? one.id === provider_id : one.is_default));
    if (!provider) return { name: "a missing provider", isSimulated: false };
    const name = model ?? provider.default_model;
    return {
      name: name && !provider.simulated ? `${provider.name} (${name})` : provider.name,
      isSimulated: provider.simulated,
    };
  });
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px] text-ink-2">
      <Bot aria-hidden className="size-4 shrink-0 text-ink-3" />
      <span className="min-w-0">
        Answered by {formatList([...new Set(answering.map(({ name }) => name))])}
      </span>
      {answering.some(({ isSimulated }) => isSimulated) ? <SimulatedBadge /> : null}
    </p>
  );
}
