"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Drama } from "lucide-react";
import { useEffect } from "react";
import { useIsServerReachable, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Tooltip } from "@/components/ui/overlay/tooltip";
import { PageLink } from "@/components/ui/page-link";
import { Spinner } from "@/components/ui/spinner";

/** Retries every few seconds while the server is unreachable, and warns that data may be stale. */
export function ServerWatch() {
  const isReachable = useIsServerReachable();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (isReachable) return;
    const timer = setInterval(() => void queryClient.refetchQueries({ type: "active" }), 5_000);
    return () => clearInterval(timer);
  }, [isReachable, queryClient]);
  if (isReachable) return null;
  return (
    <div className="fixed bottom-18 left-1/2 z-40 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 md:bottom-6">
      <div
        role="status"
        className="flex items-center gap-3 rounded-lg border border-waiting/50 bg-raised px-3 py-2 text-[13px] shadow-1"
      >
        <Spinner size={14} />
        <span className="min-w-0 flex-1">Reconnecting…</span>
        <Button size="sm" onClick={() => void queryClient.refetchQueries({ type: "active" })}>
          Retry now
        </Button>
      </div>
    </div>
  );
}

/** Whether the offline demo is the default provider; null while unknown. */
function useIsDemoDefault(): boolean | null {
  const providers = useQuery({ ...useTrpc().providers.list.queryOptions(), staleTime: 30_000 });
  if (!providers.data) return null;
  return providers.data.providers.find((provider) => provider.is_default)?.simulated ?? false;
}

/** In the rail: says that answers are simulated, with a link to the settings. */
export function DemoNotice({ compact }: { compact: boolean }) {
  if (useIsDemoDefault() !== true) return null;
  if (compact)
    return (
      <Tooltip content="Offline demo: simulated responses" side="right">
        <PageLink
          href="/settings"
          aria-label="Offline demo: simulated responses"
          className="flex size-9 items-center justify-center rounded-lg border border-dashed border-waiting/70 text-waiting hover:bg-ink/5"
        >
          <Drama aria-hidden="true" className="size-4.5" strokeWidth={1.75} />
        </PageLink>
      </Tooltip>
    );
  return (
    <PageLink
      href="/settings"
      className="flex flex-col gap-1 rounded-lg border border-dashed border-waiting/70 p-3 text-[13px] leading-5 hover:bg-ink/4"
    >
      <span className="flex items-center gap-2 font-medium">
        <Drama aria-hidden="true" className="size-4 text-waiting" strokeWidth={1.75} />
        Offline demo
      </span>
      <span className="text-ink-2">Responses are simulated. Connect a model.</span>
    </PageLink>
  );
}

/** On phones: the same as one line above the page. */
export function DemoStrip() {
  if (useIsDemoDefault() !== true) return null;
  return (
    <aside aria-label="Offline demo" className="border-b border-line bg-surface md:hidden">
      <PageLink href="/settings" className="flex items-center gap-2 px-4 py-2 text-[13px] text-ink-2">
        <Drama aria-hidden="true" className="size-4 shrink-0 text-waiting" strokeWidth={1.75} />
        <span className="min-w-0 flex-1">
          <span className="font-medium text-ink">Offline demo:</span> responses are simulated.
        </span>
        <span className="shrink-0 text-accent">Connect a model</span>
      </PageLink>
    </aside>
  );
}
