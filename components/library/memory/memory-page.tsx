"use client";

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Brain, Plus, Search } from "lucide-react";
import dynamic from "next/dynamic";
import { useDeferredValue, useState } from "react";
import { Page } from "@/components/page/page";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Select } from "@/components/ui/select";
import { Skeleton } from "@/components/ui/skeleton";
import { TextField } from "@/components/ui/text-field";
import { MEMORY_SCOPES, MemoryScope } from "@/server/domain/agent/memory-scope";
import type { MemoryListed } from "./memory";
import { MemoryRow } from "./memory-row";

const MemoryDialog = dynamic(() => import("./memory-dialog").then((m) => m.MemoryDialog), { ssr: false });
const NewMemoryDialog = dynamic(() => import("./memory-dialog").then((m) => m.NewMemoryDialog), {
  ssr: false,
});

type Scope = MemoryListed["scope"];

/** What agents remember, to look through and to correct. */
export function MemoryPage() {
  const trpc = useTrpc();
  const [scope, setScope] = useState<Scope | "all">("all");
  const [search, setSearch] = useState("");
  const [editing, setEditing] = useState<MemoryListed | null>(null);
  const [isAdding, setAdding] = useState(false);
  const text = useDeferredValue(search.trim());
  const counts = useQuery(trpc.memories.counts.queryOptions());
  const found = useInfiniteQuery(
    trpc.memories.list.infiniteQueryOptions(
      { ...(scope === "all" ? {} : { scope }), ...(text ? { text } : {}) },
      {
        getNextPageParam: (page) => page.next ?? undefined,
        placeholderData: keepPreviousData,
      },
    ),
  );
  const memories = found.data?.pages.flatMap((page) => page.memories) ?? [];
  const total = counts.data ? Object.values(counts.data).reduce((sum, count) => sum + count, 0) : null;
  return (
    <Page
      title="Memory"
      description="What agents remember beyond the step they are at. They find it again by its words; you can add to it, correct it, or delete it."
      actions={
        <Button icon={<Plus aria-hidden="true" />} onClick={() => setAdding(true)}>
          New
        </Button>
      }
    >
      {total === 0 ? (
        <EmptyState
          className="rounded-xl border border-dashed border-line"
          icon={<Brain />}
          title="No memories yet"
          actions={
            <>
              <Button variant="primary" onClick={() => setAdding(true)}>
                Add a memory
              </Button>
              <ButtonLink href="/tools?tool=store_memory">How agents add memories</ButtonLink>
            </>
          }
        >
          Add what every run should know, such as “Tone: write plainly, for newcomers”. Agents whose role has
          the tool <code className="font-mono text-xs">store_memory</code> add their own, each with its run.
        </EmptyState>
      ) : (
        <>
          <div className="mb-4 flex flex-wrap gap-3">
            <TextField
              label="Search memories"
              hideLabel
              type="search"
              placeholder="Search keys and texts"
              icon={<Search aria-hidden="true" />}
              value={search}
              onValueChange={setSearch}
              fieldClassName="min-w-48 flex-1"
            />
            <Select<Scope | "all">
              label="How far it reaches"
              hideLabel
              options={[
                { value: "all", label: `All${total === null ? "" : ` (${total})`}` },
                ...MemoryScope.options.map((value) => ({
                  value,
                  label: `${MEMORY_SCOPES[value].title}${counts.data ? ` (${counts.data[value]})` : ""}`,
                })),
              ]}
              value={scope}
              onValueChange={setScope}
              fieldClassName="w-48"
            />
          </div>
          {found.error && !found.data ? (
            <EmptyState
              title="The memories could not be loaded"
              actions={<Button onClick={() => void found.refetch()}>Try again</Button>}
            >
              {toApiError(found.error).message}
            </EmptyState>
          ) : found.isPending ? (
            <div aria-busy="true" className="flex flex-col gap-3">
              {[1, 2, 3].map((row) => (
                <Skeleton key={row} className="h-20 w-full" />
              ))}
            </div>
          ) : memories.length === 0 ? (
            <EmptyState
              title={text ? `Nothing remembered matches “${text}”` : "Nothing is remembered here"}
            />
          ) : (
            <>
              <ul
                aria-label="Memories"
                className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
              >
                {memories.map((memory) => (
                  <MemoryRow key={memory.id} memory={memory} onEdit={() => setEditing(memory)} />
                ))}
              </ul>
              {found.hasNextPage ? (
                <Button
                  className="mt-4 self-center"
                  pending={found.isFetchingNextPage}
                  onClick={() => void found.fetchNextPage()}
                >
                  Show more
                </Button>
              ) : null}
            </>
          )}
        </>
      )}
      {editing ? <MemoryDialog key={editing.id} memory={editing} onClose={() => setEditing(null)} /> : null}
      {isAdding ? <NewMemoryDialog onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}
