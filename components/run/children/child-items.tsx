"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { RotateCw, Workflow } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { formatDuration } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { PageLink } from "@/components/ui/page-link";
import { NARROW, useMedia } from "@/components/ui/use-media";
import { formatCost } from "@/server/domain/model/cost";
import type { Activation, ChildCounts, ChildRun } from "@/server/domain/run";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { runStatus } from "../status";
import { ViewPart } from "../view-part";
import { childrenOf, runHref } from "./child-runs";
import { useChildStage } from "./child-stage";

const FILTERS = [
  { value: "all", label: "All" },
  { value: "running", label: "Running" },
  { value: "failed", label: "Failed" },
] as const;
type Filter = (typeof FILTERS)[number]["value"];

/** Rows listed at first, and added with each click of “Show more”. */
const PAGE = 50;

/** The runs that an activation started, with their results. */
export function ChildItems({ activation, counts }: { activation: Activation; counts: ChildCounts }) {
  const [filter, setFilter] = useState<Filter>("all");
  const [most, setMost] = useState(PAGE);
  const isMap = counts.total !== undefined;
  const hasRuns = useRun(({ state }) => hasChildren(state.children.values(), activation.id), false);
  const shown = useRunList<ChildRun>(({ state }) =>
    childrenOf(state, activation.id)
      .filter(({ status }) => filter === "all" || status === filter)
      .slice(0, most + 1),
  );
  return (
    <ViewPart title={isMap ? "Items" : "Run"}>
      {isMap && !hasRuns ? (
        <p className="text-[13px] text-ink-2">
          {counts.total === 0
            ? "The list was empty."
            : "The items were computed here, without separate runs."}
        </p>
      ) : null}
      {isMap && hasRuns ? (
        <div className="flex flex-wrap items-center gap-2">
          <SegmentedControl<Filter>
            label="Items shown"
            size="sm"
            options={FILTERS}
            value={filter}
            onValueChange={setFilter}
          />
          {counts.failed > 0 ? (
            <span className="text-[13px] text-failed tabular-nums">
              {counts.failed.toLocaleString("en-US")} failed
            </span>
          ) : null}
          <RetryItems activation={activation} counts={counts} />
        </div>
      ) : null}
      {hasRuns && shown.length === 0 ? <p className="text-[13px] text-ink-2">None</p> : null}
      {shown.length > 0 ? (
        <ul
          aria-label={isMap ? "Items" : "Runs"}
          className="flex flex-col divide-y divide-line rounded-lg border border-line"
        >
          {shown.slice(0, most).map((child) => (
            <Item key={child.item ?? 0} child={child} nodeId={activation.node_id} />
          ))}
        </ul>
      ) : null}
      {shown.length > most ? (
        <Button size="sm" className="self-start" onClick={() => setMost(most + PAGE)}>
          Show more items
        </Button>
      ) : null}
    </ViewPart>
  );
}

function hasChildren(children: Iterable<ChildRun>, activationId: string): boolean {
  for (const { activation_id } of children) if (activation_id === activationId) return true;
  return false;
}

/** One run: status, duration, cost, the first lines of its input and of its result or error. */
function Item({ child: { run_id, item, status }, nodeId }: { child: ChildRun; nodeId: string }) {
  const stage = useChildStage();
  const isNarrow = useMedia(NARROW);
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const { data: run } = useQuery({
    ...useTrpc().runs.get.queryOptions({ run_id }),
    retry: false,
    refetchInterval: ({ state }) => (state.error || state.data?.status === "finished" ? false : 3_000),
  });
  const isOver = status !== "running";
  const facts =
    run && isOver && run.finished_at !== null
      ? [formatDuration(run.finished_at - (run.started_at ?? run.created_at)), formatCost(run)]
      : [];
  const name =
    item === undefined ? run?.workflow_name || "Run" : `Item ${(item + 1).toLocaleString("en-US")}`;
  return (
    <li className="relative flex items-start gap-2 px-2.5 py-2 text-[13px] hover:bg-ink/3">
      <span className="pt-0.5">
        <StatusMark status={isOver || isPast || !run ? status : runStatus(run.status)} size="sm" />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <PageLink
            href={runHref(run_id)}
            className="font-medium after:absolute after:inset-0 after:content-['']"
          >
            {name}
          </PageLink>
          <span className="text-xs text-ink-3 tabular-nums">{facts.join(" · ")}</span>
        </span>
        {run?.input_excerpt ? (
          <span
            title={run.input_excerpt}
            className="line-clamp-1 text-xs text-ink-3 [overflow-wrap:anywhere]"
          >
            {run.input_excerpt}
          </span>
        ) : null}
        {isOver && run?.outcome_excerpt ? (
          <span
            title={run.outcome_excerpt}
            className={clsx(
              "line-clamp-2 [overflow-wrap:anywhere]",
              status === "failed" ? "text-failed" : "text-ink-2",
            )}
          >
            {run.outcome_excerpt}
          </span>
        ) : null}
      </span>
      {stage && !isNarrow ? (
        <IconButton
          label={`Show ${name} here`}
          size="sm"
          className="relative z-10"
          icon={<Workflow aria-hidden />}
          onClick={() => stage.unfold(nodeId, item)}
        />
      ) : null}
    </li>
  );
}

/** Runs the failed items of a map again in a fork; a map that failed itself is retried in place. */
function RetryItems({ activation, counts: { failed } }: { activation: Activation; counts: ChildCounts }) {
  const page = useRunPage();
  const router = useRouter();
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const fork = useMutation(
    useTrpc().runs.fork.mutationOptions({
      onSuccess: ({ run_id }) => router.push(`/workflows/${workflowId ?? "-"}/runs/${run_id}`),
    }),
  );
  const isOver =
    activation.status === "completed" || (activation.status === "failed" && !activation.ends_run);
  if (!page || page.held || isPast || !isOver || failed === 0) return null;
  const { node_id, id } = activation;
  return (
    <Button
      size="sm"
      icon={<RotateCw aria-hidden />}
      pending={fork.isPending}
      onClick={() =>
        fork.mutate({ run_id: page.runId, at: { node_id, occurrence: Number(id.slice(node_id.length + 1)) } })
      }
    >
      Retry failed items
    </Button>
  );
}
