"use client";

import { Eye } from "lucide-react";
import { countOf } from "@/components/display/format";
import type { Answers } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Spinner } from "@/components/ui/spinner";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { MUTANT_KINDS } from "@/server/domain/scenario/mutants";
import { Place } from "./place";

export type MutantReport = Answers["tests"]["mutants"];
type Mutant = MutantReport["mutants"][number];

/** Which small changes of the workflow no test noticed, with their places; asked for by the button in it. */
export function MutantsView({
  workflowId,
  graph,
  report,
  isPending,
  onAsk,
}: {
  workflowId: string;
  graph: WorkflowGraph;
  report: MutantReport | null;
  isPending: boolean;
  onAsk: () => void;
}) {
  const survived = report?.mutants.filter(({ status }) => status === "survived") ?? [];
  const noticed = report?.mutants.filter(({ status }) => status === "noticed") ?? [];
  return (
    <section
      aria-labelledby="mutants"
      className="flex flex-col gap-3 rounded-xl border border-line bg-surface p-4"
    >
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-72">
          <h2 id="mutants" className="text-sm font-semibold">
            Would the tests notice?
          </h2>
          <p className="text-[13px] text-ink-2">
            The workflow is changed in one small way at a time, and the tests are run on each. Nothing is
            saved.
          </p>
        </div>
        <Button icon={<Eye aria-hidden />} pending={isPending} onClick={onAsk}>
          {report ? "Look again" : "Look"}
        </Button>
      </header>
      <div role="status" className="text-[13px]">
        {isPending ? (
          <p className="flex items-center gap-2 text-ink-2">
            <Spinner size={14} /> Changing the workflow and running the tests…
          </p>
        ) : report ? (
          <p>{summaryOf(report)}</p>
        ) : null}
      </div>
      {survived.length > 0 && !isPending ? (
        <MutantList label="What no test noticed" mutants={survived} workflowId={workflowId} graph={graph} />
      ) : null}
      {noticed.length > 0 && !isPending ? (
        <Disclosure title="What was noticed" aside={countOf(noticed.length, "change")}>
          <MutantList label="What was noticed" mutants={noticed} workflowId={workflowId} graph={graph} />
        </Disclosure>
      ) : null}
    </section>
  );
}

function summaryOf({ mutants, noticed, survived, left_out, why_not }: MutantReport): string {
  if (why_not !== null) return why_not;
  const broken = mutants.length - noticed - survived;
  return [
    survived === 0
      ? `Yes: ${countOf(noticed, "change")} tried, all noticed.`
      : `${survived} of ${countOf(noticed + survived, "change")} would pass unnoticed. Add an expectation that fails there.`,
    broken > 0 ? `${broken} more could not be run at all.` : "",
    left_out > 0 ? `${left_out} more were not tried.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function MutantList({
  label,
  mutants,
  workflowId,
  graph,
}: {
  label: string;
  mutants: readonly Mutant[];
  workflowId: string;
  graph: WorkflowGraph;
}) {
  return (
    <ul aria-label={label} className="flex flex-col divide-y divide-line rounded-lg border border-line">
      {mutants.map(({ id, kind, sentence, node_id, edge_id, noticed_by }) => (
        <li key={id} className="flex flex-col gap-1 px-3.5 py-2.5 text-[13px] leading-5">
          <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
            <Badge>{MUTANT_KINDS[kind]}</Badge>
            <span className="min-w-0 [overflow-wrap:anywhere]">{sentence}</span>
          </p>
          {noticed_by ? <p className="text-ink-2 [overflow-wrap:anywhere]">{noticed_by}</p> : null}
          <Place
            nodeId={node_id ?? graph.edges.find((edge) => edge.id === edge_id)?.source_node_id}
            workflowId={workflowId}
            graph={graph}
          />
        </li>
      ))}
    </ul>
  );
}
