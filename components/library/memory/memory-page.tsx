"use client";

import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Brain, PencilLine, Plus, Search, Trash2, UserRoundX } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useDeferredValue, useState } from "react";
import { LoadError } from "@/components/page/error-text";
import { Page } from "@/components/page/page";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/input/select";
import { TextField } from "@/components/ui/input/text-field";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Skeleton } from "@/components/ui/skeleton";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { MEMORY_SCOPES, MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import { defined } from "@/server/domain/base/defined";
import type { MemoryListed } from "./memory-dialog";

const MemoryDialog = dynamic(() => import("./memory-dialog").then((m) => m.MemoryDialog), { ssr: false });

type Scope = MemoryListed["scope"];

/** Lists, adds and edits the memories of agents. */
export function MemoryPage() {
  const trpc = useTrpc();
  const [scope, setScope] = useState<Scope | "all">("all");
  const [search, setSearch] = useState("");
  const editing = useDialog((close, memory: MemoryListed | null) => (
    <MemoryDialog memory={memory} onClose={close} />
  ));
  const text = useDeferredValue(search.trim());
  const counts = useQuery(trpc.memories.counts.queryOptions());
  const found = useMemories(scope, text);
  const total = counts.data ? Object.values(counts.data).reduce((sum, count) => sum + count, 0) : null;
  return (
    <Page
      title="Memory"
      description="What agents remember between steps and runs. Search, add, edit or delete memories."
      actions={
        <Button icon={<Plus aria-hidden="true" />} onClick={() => editing.open(null)}>
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
              <Button variant="primary" onClick={() => editing.open(null)}>
                Add memory
              </Button>
              <ButtonLink href="/tools?tool=store_memory">How agents add memories</ButtonLink>
            </>
          }
        >
          Add what every run should know, such as “Tone: write plainly, for newcomers”. Agents whose role has
          the <code className="font-mono text-xs">store_memory</code> tool can add their own, each linked to
          its run.
        </EmptyState>
      ) : (
        <>
          <div className="mb-4 flex flex-wrap gap-3">
            <TextField
              label="Search memories"
              hideLabel
              type="search"
              placeholder="Search keys and values"
              icon={<Search aria-hidden="true" />}
              value={search}
              onValueChange={setSearch}
              fieldClassName="min-w-48 flex-1"
            />
            <Select<Scope | "all">
              label="Scope"
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
          <Memories found={found} text={text} onEdit={editing.open} />
        </>
      )}
      {editing.dialog}
    </Page>
  );
}

const useMemories = (scope: Scope | "all", text: string) =>
  useInfiniteQuery(
    useTrpc().memories.list.infiniteQueryOptions(
      defined({ scope: scope === "all" ? undefined : scope, text: text || undefined }),
      {
        getNextPageParam: (page) => page.next_cursor ?? undefined,
        placeholderData: keepPreviousData,
      },
    ),
  );

/** The memories that match `text`, page by page. */
function Memories({
  found,
  text,
  onEdit,
}: {
  found: ReturnType<typeof useMemories>;
  text: string;
  onEdit: (memory: MemoryListed) => void;
}) {
  if (found.error && !found.data) return <LoadError what="memories" queries={[found]} />;
  if (found.isPending)
    return (
      <div aria-busy="true" className="flex flex-col gap-3">
        {[1, 2, 3].map((row) => (
          <Skeleton key={row} className="h-20 w-full" />
        ))}
      </div>
    );
  const memories = found.data.pages.flatMap((page) => page.memories);
  if (memories.length === 0)
    return <EmptyState title={text ? `No memory matches “${text}”` : "No memories here"} />;
  return (
    <>
      <ul
        aria-label="Memories"
        className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
      >
        {memories.map((memory) => (
          <MemoryRow key={memory.id} memory={memory} onEdit={() => onEdit(memory)} />
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
  );
}

const SHORT = 400;

function MemoryRow({ memory, onEdit }: { memory: MemoryListed; onEdit: () => void }) {
  const trpc = useTrpc();
  const invalidate = useInvalidate("memories");
  const [isWhole, setWhole] = useState(false);
  const restore = useMutation(trpc.memories.restore.mutationOptions({ onSettled: invalidate }));
  const { id, key, value, scope, tainted, updated_at, expires_at } = memory;
  const remove = useMutation(
    trpc.memories.remove.mutationOptions({
      onSettled: invalidate,
      onSuccess: () => {
        const { scope_id, importance, source } = memory;
        toast(`Deleted “${key}”`, {
          undo: () =>
            restore.mutate({ scope, scope_id, key, value, importance, tainted, source, expires_at }),
        });
      },
    }),
  );
  const whole = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const text = isWhole || whole.length <= SHORT ? whole : `${whole.slice(0, SHORT).toWellFormed()}…`;
  return (
    <li className="flex gap-3 px-4 py-3">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-mono text-[13px] font-medium [overflow-wrap:anywhere]">{key}</span>
          <Badge>{MEMORY_SCOPES[scope].title}</Badge>
          {tainted ? (
            <Badge tone="waiting" icon={<UserRoundX aria-hidden="true" />}>
              Untrusted
            </Badge>
          ) : null}
        </p>
        <p
          className={clsx(
            "whitespace-pre-wrap [overflow-wrap:anywhere]",
            typeof value === "string" ? "text-sm" : "font-mono text-[13px]",
          )}
        >
          {text}
        </p>
        {whole.length > SHORT ? (
          <button
            type="button"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
            className="self-start text-[13px] text-ink-2 underline underline-offset-2 hover:text-accent"
          >
            {isWhole ? "Show less" : "Show all"}
          </button>
        ) : null}
        <p className="text-[13px] text-ink-3">
          <Origin memory={memory} />, <TimeText at={updated_at} />
          {expires_at === null ? null : (
            <>
              {" "}
              · expires{" "}
              {new Date(expires_at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
            </>
          )}
        </p>
      </div>
      <div className="flex shrink-0 gap-0.5">
        <IconButton
          label={`Edit ${key}`}
          size="sm"
          icon={<PencilLine aria-hidden="true" />}
          onClick={onEdit}
        />
        <IconButton
          label={`Delete ${key}`}
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden="true" />}
          pending={remove.isPending}
          onClick={() => remove.mutate({ id })}
        />
      </div>
    </li>
  );
}

function Origin({ memory: { source, place } }: { memory: MemoryListed }) {
  const who =
    source.by === "person" || source.by === "program"
      ? `${source.tool_name || source.run_id ? "Corrected" : "Written"} by a ${source.by}`
      : source.role_name
        ? `By ${source.role_name}${source.agent_id ? ` (${source.agent_id})` : ""}`
        : source.by === "agent"
          ? "By an agent"
          : "By a workflow";
  const { run, workflow } = place;
  return (
    <>
      {who}
      {source.tool_name ? ` with ${source.tool_name}` : ""}
      {run ? (
        <>
          {" in "}
          {run.workflow_id ? (
            <Link
              href={`/workflows/${run.workflow_id}/runs/${run.id}`}
              className="text-ink-2 underline underline-offset-2 hover:text-accent"
            >
              a run of {run.name}
            </Link>
          ) : (
            `a run of ${run.name}`
          )}
        </>
      ) : null}
      {workflow ? (
        <>
          {" for "}
          <Link
            href={`/workflows/${workflow.id}`}
            className="text-ink-2 underline underline-offset-2 hover:text-accent"
          >
            {workflow.name}
          </Link>
        </>
      ) : null}
    </>
  );
}
