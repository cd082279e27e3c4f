"use client";

import { useQuery } from "@tanstack/react-query";
import { CornerLeftUp } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { PageLink } from "@/components/ui/page-link";
import type { ParentRun } from "@/server/domain/run/events/child-events";
import { useRun } from "../run-context";
import { runHref } from "./child-runs";

/** Where a run belongs: the run that started it, the node, and the item; nothing if no other run did. */
export function ParentLink() {
  const parent = useRun<ParentRun | null>(({ head }) => head.run.parent ?? null, null);
  return parent ? <From parent={parent} /> : null;
}

function From({ parent: { run_id, activation_id, workflow_name, item } }: { parent: ParentRun }) {
  // The first event contains the workflow of that time.
  const { data } = useQuery({
    ...useTrpc().runs.events.queryOptions({ run_id, after: 0, limit: 1 }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const [created] = data?.events ?? [];
  const nodeId = activation_id.slice(0, activation_id.lastIndexOf("#"));
  const node = created?.type === "run_created" ? created.payload.graph.nodes[nodeId]?.name : undefined;
  return (
    <nav aria-label="Parent run" className="order-last w-full text-[13px] text-ink-2 max-md:px-1">
      <ol className="flex flex-wrap items-center gap-x-1.5">
        <li className="flex min-w-0 items-center gap-1.5">
          <CornerLeftUp aria-hidden className="size-3.5 shrink-0 text-ink-3" />
          <PageLink href={runHref(run_id)} className="text-accent hover:underline">
            {workflow_name || "Parent run"}
          </PageLink>
        </li>
        {[node || nodeId, item === undefined ? "" : `item ${item + 1}`].filter(Boolean).map((step) => (
          <li key={step} className="flex min-w-0 items-center gap-1.5">
            <span aria-hidden className="text-ink-3">
              ›
            </span>
            {step}
          </li>
        ))}
      </ol>
    </nav>
  );
}
