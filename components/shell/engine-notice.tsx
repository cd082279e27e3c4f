"use client";

import { useQuery } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { PageLink } from "@/components/ui/page-link";

/** How often the engine is looked at, in milliseconds. */
const POLL_INTERVAL_MS = 5_000;

/** On every page, while the engine that carries out runs has been away for longer than a moment: so, and what becomes of runs. */
export function EngineNotice() {
  const { data } = useQuery({ ...useTrpc().engine.get.queryOptions(), refetchInterval: POLL_INTERVAL_MS });
  // Who went back to having this server carry out its runs knows that the engine is away.
  if (!data?.is_away || data.kind === "embedded") return null;
  return (
    <div
      role="status"
      className="flex shrink-0 items-start gap-2 border-b border-waiting/40 bg-waiting/8 px-4 py-2 text-[13px] md:items-center"
    >
      <Unplug aria-hidden className="size-4 shrink-0 text-waiting max-md:mt-0.5" />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{data.message}</span>
      <PageLink href="/settings#engine" className="shrink-0 text-accent hover:text-accent-hover">
        See the engine
      </PageLink>
    </div>
  );
}
