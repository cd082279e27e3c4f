"use client";

import { keepPreviousData, useInfiniteQuery, useIsMutating } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Select } from "@/components/ui/input/select";
import { PageLink } from "@/components/ui/page-link";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { AUDIT_AREAS, type AuditArea } from "@/server/domain/run/audit";
import { AREA_LABELS, type AuditEntry, describeActor, describeAuditEntry, runPlace } from "./audit-messages";

const OPTIONS = [
  { value: "all" as const, label: "All categories" },
  ...AUDIT_AREAS.map((value) => ({ value, label: AREA_LABELS[value] })),
];

/** The read-only audit log, newest first. */
export function AuditSection() {
  const [area, setArea] = useState<AuditArea | "all">("all");
  const found = useInfiniteQuery(
    useTrpc().audit.list.infiniteQueryOptions(area === "all" ? {} : { area }, {
      getNextPageParam: (page) => page.next ?? undefined,
      // Keep showing the previous entries while others load.
      placeholderData: keepPreviousData,
    }),
  );
  const { refetch } = found;
  const isChanging = useIsMutating() > 0;
  // Actions on this page are logged, too.
  useEffect(() => {
    if (!isChanging) void refetch();
  }, [isChanging, refetch]);
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <Panel
      flush
      title="Audit log"
      description="Changes to keys, permissions and tools, answers to questions, and sign-ins. Read-only."
      actions={
        <Select<AuditArea | "all">
          label="Category"
          hideLabel
          options={OPTIONS}
          value={area}
          onValueChange={setArea}
          fieldClassName="w-48 max-sm:w-full"
        />
      }
    >
      {found.error && !found.data ? (
        <div className="flex flex-wrap items-center gap-3 p-4 text-[13px] text-failed">
          <p className="min-w-0 flex-1">{toApiError(found.error).message}</p>
          <Button size="sm" onClick={() => void found.refetch()}>
            Try again
          </Button>
        </div>
      ) : entries.length > 0 ? (
        <ul aria-label="Audit log" aria-busy={found.isPlaceholderData} className="divide-y divide-line">
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} />
          ))}
        </ul>
      ) : (
        <p className="px-4 py-4 text-[13px] text-ink-2">
          {found.isPending ? "Loading…" : area === "all" ? "No entries yet." : "No matching entries."}
        </p>
      )}
      {found.hasNextPage ? (
        <div className="border-t border-line p-2 text-center">
          <Button
            size="sm"
            variant="ghost"
            pending={found.isFetchingNextPage}
            onClick={() => void found.fetchNextPage()}
          >
            Show older entries
          </Button>
        </div>
      ) : null}
    </Panel>
  );
}

function AuditRow({ entry }: { entry: AuditEntry }) {
  const { title, more } = describeAuditEntry(entry);
  const place = runPlace(entry);
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-2.5">
      <span className="min-w-0 flex-1 basis-56 wrap-anywhere">
        <span className="block text-sm">{title}</span>
        {more || place ? (
          <span className="block text-[13px] text-ink-2">
            {more}
            {place ? (
              <PageLink href={place} className="text-accent underline-offset-2 hover:underline">
                View run
              </PageLink>
            ) : null}
          </span>
        ) : null}
      </span>
      <span className="text-[13px] text-ink-2">
        {describeActor(entry)}, <TimeText at={entry.at} />
      </span>
    </li>
  );
}
