"use client";

import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import { formatEstimate } from "@/components/display/format-estimate";
import { useTrpc } from "@/components/trpc";
import { Disclosure } from "@/components/ui/disclosure";

/** The estimated cost and duration, and their basis; nothing if no model is used. */
export function Estimate({ workflowId }: { workflowId: string }) {
  const { data } = useQuery(
    useTrpc().workflows.estimate.queryOptions({ id: workflowId }, { staleTime: 0, gcTime: 0 }),
  );
  if (!data || data.calls[1] === 0) return null;
  return (
    <Disclosure icon={<Gauge aria-hidden />} title="Estimate" aside={formatEstimate(data)}>
      <p className="pb-1 text-[13px] tabular-nums">{formatEstimate(data)}</p>
      <ul className="flex list-disc flex-col gap-1 pl-5 text-[13px] text-ink-2">
        {data.basis.map((basis) => (
          <li key={basis}>{basis}</li>
        ))}
      </ul>
      <p className="pt-2 text-xs text-ink-3">{data.assumptions}</p>
    </Disclosure>
  );
}
