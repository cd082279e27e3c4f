"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  Bot,
  Brain,
  FlaskConical,
  History,
  type LucideIcon,
  Network,
  Trash2,
  Undo2,
  UsersRound,
  Workflow,
  Wrench,
} from "lucide-react";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { Page } from "@/components/page/page";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { Skeleton } from "@/components/ui/skeleton";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { keysOf } from "@/server/domain/base/guards";

type Binned = Answers["bin"]["list"][number];

const KINDS: Record<Binned["kind"], { one: string; many: string; icon: LucideIcon }> = {
  workflow: { one: "Workflow", many: "Workflows", icon: Workflow },
  run: { one: "Run", many: "Runs", icon: History },
  role: { one: "Role", many: "Roles", icon: UsersRound },
  crew: { one: "Crew", many: "Crews", icon: Network },
  agent: { one: "Agent", many: "Agents", icon: Bot },
  tool: { one: "Tool", many: "Tools", icon: Wrench },
  memory: { one: "Memory", many: "Memories", icon: Brain },
  test: { one: "Test", many: "Tests", icon: FlaskConical },
};
type Filter = "all" | Binned["kind"];

/** Deleted items, to restore or to delete permanently. */
export function BinPage() {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const bin = useQuery(trpc.bin.list.queryOptions());
  const [filter, setFilter] = useState<Filter>("all");
  const empty = useMutation(
    trpc.bin.empty.mutationOptions({ onSettled: () => void queryClient.invalidateQueries() }),
  );
  const all = bin.data ?? [];
  const emptying = useConfirm({
    danger: true,
    title: "Empty trash?",
    description: `Permanently deletes ${countOf(all.length, "item")}, including run files. You can't undo this.`,
    confirm: "Empty trash",
    onConfirm: () => empty.mutateAsync(),
  });
  const shown = all.filter(({ kind }) => filter === "all" || kind === filter);
  const kinds = keysOf(KINDS).filter((kind) => all.some((one) => one.kind === kind));

  return (
    <Page
      title="Trash"
      width="narrow"
      description="Deleted items stay here for 30 days. Providers, servers, tokens and keys are deleted immediately."
      actions={
        all.length > 0 ? (
          <Button variant="danger" icon={<Trash2 aria-hidden />} onClick={emptying.open}>
            Empty trash
          </Button>
        ) : null
      }
    >
      {kinds.length > 1 ? (
        <div className="mb-3 flex overflow-x-auto">
          <SegmentedControl<Filter>
            label="Item type"
            size="sm"
            value={filter}
            onValueChange={setFilter}
            options={[
              { value: "all", label: "All" },
              ...kinds.map((kind) => ({ value: kind, label: KINDS[kind].many })),
            ]}
            className="shrink-0 whitespace-nowrap"
          />
        </div>
      ) : null}
      {bin.isPending ? (
        <Skeleton className="h-40 w-full rounded-xl" />
      ) : bin.error ? (
        <EmptyState
          title="Couldn't load trash"
          actions={<Button onClick={() => void bin.refetch()}>Try again</Button>}
        >
          {toApiError(bin.error).message}
        </EmptyState>
      ) : (
        <BinList items={shown} />
      )}
      {emptying.dialog}
    </Page>
  );
}

function BinList({ items }: { items: readonly Binned[] }) {
  if (items.length === 0)
    return (
      <EmptyState
        icon={<Trash2 />}
        title="Trash is empty"
        className="rounded-xl border border-dashed border-line"
        actions={<ButtonLink href="/">View workflows</ButtonLink>}
      >
        Deleted workflows, runs, roles, crews, agents, tools, memories and tests stay here for 30 days.
      </EmptyState>
    );
  return (
    <ul
      aria-label="Deleted items"
      className="flex flex-col divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
    >
      {items.map((one) => (
        <BinRow key={`${one.kind} ${one.id}`} one={one} />
      ))}
    </ul>
  );
}

function BinRow({ one }: { one: Binned }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { kind, id } = one;
  const { one: word, icon: Icon } = KINDS[kind];
  const name = one.name || id;
  // A restored item belongs to other lists, too.
  const refresh = () => void queryClient.invalidateQueries();
  const restore = useMutation(
    trpc.bin.restore.mutationOptions({
      onSettled: refresh,
      onSuccess: () => toast("Restored", { tone: "success" }),
    }),
  );
  const purge = useMutation(trpc.bin.purge.mutationOptions({ onSettled: refresh }));
  const purging = useConfirm({
    danger: true,
    title: "Delete permanently?",
    description: `Permanently deletes “${one.name}”. You can't undo this.`,
    confirm: "Delete permanently",
    onConfirm: () => purge.mutateAsync({ kind, id }),
  });
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="flex flex-wrap gap-x-3 text-xs text-ink-3">
          <span>{word}</span>
          <span>
            Deleted <TimeText at={one.deleted_at} />
          </span>
          <span>
            Permanent deletion on {new Date(one.gone_at).toLocaleDateString("en-GB", { dateStyle: "medium" })}
          </span>
        </p>
      </div>
      <Button
        size="sm"
        icon={<Undo2 aria-hidden />}
        disabled={restore.isPending}
        aria-label={`Restore ${name}`}
        onClick={() => restore.mutate({ kind, id })}
      >
        Restore
      </Button>
      <IconButton
        size="sm"
        variant="danger"
        label={`Delete ${name} permanently`}
        icon={<Trash2 aria-hidden />}
        onClick={purging.open}
      />
      {purging.dialog}
    </li>
  );
}
