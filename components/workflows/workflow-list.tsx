"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileDown, LayoutTemplate, Plus, Search, SearchX } from "lucide-react";
import dynamic from "next/dynamic";
import { useMemo, useState } from "react";
import { useCallableWorkflows, type WorkflowInterface } from "@/components/forms/use-callable-workflows";
import { ImportDoor, useImporting } from "@/components/import-export/import-door";
import { LoadError } from "@/components/page/error-text";
import { Page } from "@/components/page/page";
import { useHelpSection } from "@/components/page/page-commands";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Select } from "@/components/ui/input/select";
import { TextField } from "@/components/ui/input/text-field";
import { Menu } from "@/components/ui/overlay/menu";
import { Skeleton } from "@/components/ui/skeleton";
import "../display/sketch.css";
import { ExportLosses } from "@/components/import-export/export-losses";
import { RemoveUsed } from "@/components/import-export/remove-used";
import { useWorkflowActions, type WorkflowActions } from "@/components/import-export/workflow-actions";
import { useRunTicks } from "@/components/run/live/run-ticks";
import { TemplateCards } from "./template-cards";
import { type WorkflowListed, WorkflowRow } from "./workflow-row";

/** The first visit: what Troupe is, and templates that run at once. */
function Welcome({ actions, onImport }: { actions: WorkflowActions; onImport: () => void }) {
  const templates = useQuery(useTrpc().workflows.templates.queryOptions());
  return (
    <div className="mx-auto max-w-6xl px-4 pt-8 pb-16 sm:px-8 sm:pt-16">
      <h1 className="max-w-2xl font-serif text-[40px] leading-[1.08] tracking-[-0.015em] text-balance sm:text-[56px]">
        Cast your agents, draw the plot, watch it play.
      </h1>
      <p className="mt-4 max-w-xl text-base text-ink-2">
        Open a template, press Run, and watch every step on the canvas.
      </p>
      <div className="mt-8 sm:mt-10">
        {templates.data ? (
          <TemplateCards templates={templates.data} actions={actions} />
        ) : (
          <Skeleton className="h-72 w-full rounded-xl" />
        )}
      </div>
      <div className="mt-6 flex flex-wrap items-center gap-2">
        <Button
          variant="ghost"
          icon={<Plus aria-hidden="true" />}
          pending={actions.opening === "blank"}
          onClick={actions.create}
        >
          Blank workflow
        </Button>
        <Button variant="ghost" icon={<FileDown aria-hidden="true" />} onClick={onImport}>
          Import
        </Button>
      </div>
    </div>
  );
}

const lately = () => import("./lately").then((m) => m.Lately);
/** Reserves space if there is something to load. */
const Lately = dynamic(lately, {
  ssr: false,
  loading: () => <Skeleton className="mb-6 h-20 w-full rounded-xl" />,
});
/** Before the first run, reserving and releasing space would move the list under the pointer. */
const LatelyIfAny = dynamic(lately, { ssr: false });

const help = {
  title: "Workflows",
  shortcuts: [
    { keys: "Enter", label: "Open workflow" },
    { keys: "F2", label: "Rename" },
  ],
};

type Order = "changed" | "name" | "run";

/** The page of all workflows; with none, the welcome. */
export function WorkflowList() {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const actions = useWorkflowActions();
  const importing = useImporting();
  useHelpSection(help);
  useRunTicks(() => void queryClient.invalidateQueries(trpc.workflows.list.queryFilter()));

  return (
    <>
      {workflows.data?.length === 0 ? (
        <Welcome actions={actions} onImport={() => importing.open()} />
      ) : (
        <Page
          title="Workflows"
          actions={
            <>
              <Button
                icon={<FileDown aria-hidden="true" />}
                className="max-sm:[&>span]:hidden"
                onClick={() => importing.open()}
              >
                Import
              </Button>
              <ButtonLink
                className="max-sm:[&>span]:hidden"
                href="/templates"
                icon={<LayoutTemplate aria-hidden="true" />}
              >
                Templates
              </ButtonLink>
              <NewMenu actions={actions} />
            </>
          }
        >
          {workflows.error && !workflows.data ? (
            <LoadError what="workflows" queries={[workflows]} />
          ) : workflows.data ? (
            <>
              {workflows.data.some(({ last_run }) => last_run) ? <Lately isExpected /> : <LatelyIfAny />}
              <FilteredWorkflows workflows={workflows.data} actions={actions} />
            </>
          ) : (
            <Loading />
          )}
        </Page>
      )}
      <ImportDoor importing={importing} what="a workflow" />
      <ExportLosses actions={actions} />
      <RemoveUsed actions={actions} />
    </>
  );
}

function NewMenu({ actions }: { actions: WorkflowActions }) {
  return (
    <Menu
      align="end"
      trigger={
        <Button variant="primary" icon={<Plus aria-hidden="true" />} pending={actions.opening !== null}>
          New workflow
        </Button>
      }
      items={[
        {
          label: "Blank workflow",
          hint: "With a start and an end node",
          icon: <Plus />,
          onSelect: actions.create,
        },
        {
          label: "From a template…",
          hint: "Ready to run",
          icon: <LayoutTemplate />,
          href: "/templates",
        },
      ]}
    />
  );
}

function FilteredWorkflows({
  workflows,
  actions,
}: {
  workflows: readonly WorkflowListed[];
  actions: WorkflowActions;
}) {
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<Order>("changed");
  const users = useUsers();
  const terms = search.trim().toLowerCase().split(/\s+/);
  const found = workflows
    .filter(({ name, description }) =>
      terms.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
    )
    .sort(orders[order]);
  return (
    <>
      <div className="mb-3 flex items-center gap-2">
        <TextField
          label="Search workflows"
          hideLabel
          type="search"
          placeholder="Search workflows"
          icon={<Search aria-hidden="true" />}
          value={search}
          onValueChange={setSearch}
          fieldClassName="flex-1 sm:max-w-80"
        />
        <span className="flex-1 max-sm:hidden" />
        <Select<Order>
          label="Sort by"
          hideLabel
          value={order}
          onValueChange={setOrder}
          fieldClassName="w-44 shrink-0 max-sm:w-36"
          options={[
            { value: "changed", label: "Last edited" },
            { value: "run", label: "Last run" },
            { value: "name", label: "Name" },
          ]}
        />
      </div>
      {found.length > 0 ? (
        <ul
          aria-label="Workflows"
          className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
        >
          {found.map((workflow) => (
            <WorkflowRow
              key={workflow.id}
              workflow={workflow}
              usedBy={users.get(workflow.id) ?? NOBODY}
              actions={actions}
            />
          ))}
        </ul>
      ) : (
        <EmptyState
          icon={<SearchX />}
          title={`No workflow matches “${search}”`}
          actions={<Button onClick={() => setSearch("")}>Clear search</Button>}
        />
      )}
      <p aria-live="polite" className="sr-only">
        {search ? `${found.length} found` : ""}
      </p>
    </>
  );
}

const NOBODY: readonly WorkflowInterface[] = [];

/** Which workflows run a workflow, by its id; empty while they load. */
function useUsers(): ReadonlyMap<string, readonly WorkflowInterface[]> {
  const workflows = useCallableWorkflows();
  return useMemo(() => {
    const users = new Map<string, WorkflowInterface[]>();
    for (const workflow of workflows ?? [])
      for (const id of workflow.calls) users.set(id, [...(users.get(id) ?? []), workflow]);
    return users;
  }, [workflows]);
}

const lastRun = (workflow: WorkflowListed) => workflow.last_run?.created_at ?? 0;
const orders: Record<Order, (a: WorkflowListed, b: WorkflowListed) => number> = {
  changed: (a, b) => b.updated_at - a.updated_at,
  run: (a, b) => lastRun(b) - lastRun(a) || b.updated_at - a.updated_at,
  name: (a, b) => a.name.localeCompare(b.name, "en", { sensitivity: "base", numeric: true }),
};

function Loading() {
  return (
    <div aria-busy="true" className="flex flex-col gap-3">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-8 w-80" />
      <Skeleton className="h-20 w-full rounded-xl" />
      <Skeleton className="h-20 w-full rounded-xl" />
      <Skeleton className="h-20 w-full rounded-xl" />
    </div>
  );
}
