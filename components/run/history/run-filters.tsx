"use client";

import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { TextField } from "@/components/ui/input/text-field";
import { FINAL_STATUS_LABELS, type FinalStatus } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { entriesOf, keysOf } from "@/server/domain/base/guards";
import type { RunOrder } from "@/server/domain/run/run-order";

/** The statuses to filter by. */
export type Standing = "all" | "going" | "person" | "paused" | "held" | FinalStatus;
const WHEN = { any: "Any time", day: "Today", week: "Last 7 days", month: "Last 30 days" } as const;
const COSTS = {
  any: "Any cost",
  "0.000001": "Above $0",
  "0.1": "$0.10 or more",
  "1": "$1 or more",
} as const;
const ORDERS = {
  newest: "Newest first",
  oldest: "Oldest first",
  costliest: "Most expensive first",
  longest: "Longest first",
} satisfies Record<RunOrder, string>;

/** What a list of runs is narrowed down to. */
export interface RunFilters {
  standing: Standing;
  search: string;
  /** "": all. */
  workflow: string;
  when: keyof typeof WHEN;
  cost: keyof typeof COSTS;
  order: RunOrder;
}
export const ALL_RUNS: RunFilters = {
  standing: "all",
  search: "",
  workflow: "",
  when: "any",
  cost: "any",
  order: "newest",
};

/** Whether a list is narrowed down, whatever its order. */
export function isNarrowed(filters: RunFilters): boolean {
  const asked = { ...filters, order: ALL_RUNS.order, search: filters.search.trim() };
  return keysOf(ALL_RUNS).some((key) => asked[key] !== ALL_RUNS[key]);
}

const STANDINGS: readonly { value: Standing; label: string }[] = [
  { value: "all", label: "All" },
  { value: "going", label: "Active" },
  { value: "person", label: "Needs your answer" },
  { value: "paused", label: "Paused" },
  { value: "held", label: "Quarantined" },
  { value: "COMPLETED", label: FINAL_STATUS_LABELS.COMPLETED },
  { value: "ERROR", label: FINAL_STATUS_LABELS.ERROR },
  { value: "INCOMPLETE", label: FINAL_STATUS_LABELS.INCOMPLETE },
  { value: "CANCELLED", label: FINAL_STATUS_LABELS.CANCELLED },
];

const DAY_MS = 24 * 3_600_000;

function sinceOf(when: RunFilters["when"], now: Date): { since?: number } {
  if (when === "any") return {};
  if (when === "day") return { since: new Date(now).setHours(0, 0, 0, 0) };
  return { since: now.getTime() - (when === "week" ? 7 : 30) * DAY_MS };
}

/** The query for the server. */
export function askedFor({ standing, search, workflow, when, cost, order }: RunFilters, now = new Date()) {
  return {
    order,
    ...defined({ search: search.trim() || undefined, workflow_id: workflow || undefined }),
    ...sinceOf(when, now),
    ...defined({ cost_from: cost === "any" ? undefined : Number(cost) }),
    ...(standing === "all"
      ? {}
      : standing === "going"
        ? { status: ["queued" as const, "running" as const, "waiting" as const, "paused" as const] }
        : standing === "paused"
          ? { status: ["paused" as const] }
          : standing === "held"
            ? { status: ["held" as const] }
            : standing === "person"
              ? { waits_for: "person" as const }
              : { final_status: standing }),
  };
}

const optionsOf = <K extends string>(labels: Record<K, string>) =>
  entriesOf(labels).map(([value, label]) => ({ value, label }));

/** Narrows a list of runs down. `hasWorkflow`: the list is that of one workflow already. */
export function RunFilterBar({
  filters,
  onChange,
  hasWorkflow,
}: {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
  hasWorkflow: boolean;
}) {
  const change = (some: Partial<RunFilters>) => onChange({ ...filters, ...some });
  return (
    <div className="flex flex-col gap-2">
      <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
        <TextField
          label="Search runs"
          hideLabel
          type="search"
          placeholder="Search input, result, workflow"
          icon={<Search aria-hidden />}
          value={filters.search}
          onValueChange={(search) => change({ search })}
          fieldClassName="col-span-2 sm:min-w-48 sm:flex-1"
        />
        {hasWorkflow ? null : (
          <WorkflowChoice value={filters.workflow} onChange={(workflow) => change({ workflow })} />
        )}
        <Select
          label="When"
          hideLabel
          options={optionsOf(WHEN)}
          value={filters.when}
          onValueChange={(when) => change({ when })}
          fieldClassName="w-full sm:w-36"
        />
        <Select
          label="Cost"
          hideLabel
          options={optionsOf(COSTS)}
          value={filters.cost}
          onValueChange={(cost) => change({ cost })}
          fieldClassName="w-full sm:w-36"
        />
        <Select
          label="Order"
          hideLabel
          options={optionsOf(ORDERS)}
          value={filters.order}
          onValueChange={(order) => change({ order })}
          fieldClassName="w-full sm:w-38"
        />
      </div>
      <div className="flex overflow-x-auto">
        <SegmentedControl
          label="Status"
          size="sm"
          options={STANDINGS}
          value={filters.standing}
          onValueChange={(standing) => change({ standing })}
          className="shrink-0 whitespace-nowrap"
        />
      </div>
    </div>
  );
}

const ALL = "all";

function WorkflowChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { data } = useQuery(useTrpc().workflows.list.queryOptions());
  return (
    <Select
      label="Workflow"
      hideLabel
      options={[
        { value: ALL, label: "All workflows" },
        ...(data ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value || ALL}
      onValueChange={(id) => onChange(id === ALL ? "" : id)}
      fieldClassName="w-full sm:w-44"
    />
  );
}
