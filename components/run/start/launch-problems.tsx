"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { useId } from "react";
import { countOf } from "@/components/display/format";
import { type Answers, useTrpc, useTrpcClient } from "@/components/trpc";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** A problem as the server tells it; what can be repaired is the editor's business. */
export type ReportedProblem = Answers["workflows"]["validate"]["problems"][number];

/** Why a workflow does not start: a sentence, or problems with their places. */
export interface StartRefusal {
  message: string;
  problems: readonly ReportedProblem[];
}

/**
 * The problems of a workflow, requested once when the dialog opens; `save` runs first, so that they match the canvas.
 * Undefined while loading. Empty if the request fails: then the start reports the problems.
 */
export function useProblems(
  workflowId: string,
  save: (() => Promise<boolean | void>) | undefined,
): readonly ReportedProblem[] | undefined {
  const client = useTrpcClient();
  const opening = useId();
  const { data, error } = useQuery({
    queryKey: [...useTrpc().workflows.validate.pathKey(), "launch", workflowId, opening],
    queryFn: async () => {
      await save?.();
      const { problems } = await client.workflows.validate.query({ id: workflowId });
      return problems;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  return error ? [] : data;
}

/** Warnings after which a run may fail, loop or end without a result. */
const MAY_STOP: ReadonlySet<string> = new Set([
  "W_INPUT_ONLY_IN_LOOP",
  "W_LOOP_WITHOUT_EXIT",
  "W_NO_END",
  "W_NO_ERROR_EDGE",
  "W_ROUTER_NO_DEFAULT",
  "W_ROUTER_READS_OBJECT",
]);

/** One line about the warnings; expanded, each with a link to its node. */
export function Warnings(
  props: Omit<ListProps, "problems"> & { problems: readonly ReportedProblem[] | undefined },
) {
  const warnings = once(props.problems?.filter(({ severity }) => severity === "warning") ?? []);
  if (warnings.length === 0) return null;
  const stopping = warnings.filter(({ code }) => MAY_STOP.has(code)).length;
  return (
    <details className="rounded-lg border border-waiting/40 bg-waiting/8 px-3 py-2 text-[13px]">
      <summary className="cursor-pointer pointer-coarse:py-1.5">
        {countOf(warnings.length, "warning")}.{stopping > 0 ? ` ${stopping} may stop the run.` : ""}
      </summary>
      <div className="pt-2">
        <ProblemList {...props} problems={warnings} />
      </div>
    </details>
  );
}

/** The problems that prevent a start, each once, linked to their places. */
export function Refusal({ refusal, ...rest }: Omit<ListProps, "problems"> & { refusal: StartRefusal }) {
  const problems = once(refusal.problems);
  return (
    <div
      role="alert"
      className="flex flex-col gap-2 rounded-lg border border-failed/35 bg-failed/6 px-3 py-2.5 text-[13px]"
    >
      <p className="flex gap-2 font-medium">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-failed" />
        {problems.length > 0 ? "This workflow can't run yet. Select a problem to fix it:" : refusal.message}
      </p>
      {problems.length > 0 ? <ProblemList {...rest} problems={problems} /> : null}
    </div>
  );
}

interface ListProps {
  problems: readonly ReportedProblem[];
  workflowId: string;
  graph: WorkflowGraph;
  onShow?: ((problem: ReportedProblem) => void) | undefined;
}

function ProblemList({ problems, workflowId, graph, onShow }: ListProps) {
  return (
    <ul className="flex flex-col gap-1 pl-6">
      {problems.map((problem) => (
        <li key={keyOf(problem)}>
          {onShow ? (
            <button type="button" onClick={() => onShow(problem)} className={linkClass}>
              <ProblemText problem={problem} graph={graph} />
            </button>
          ) : (
            <a href={placeOf(workflowId, problem)} className={linkClass}>
              <ProblemText problem={problem} graph={graph} />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function ProblemText({
  problem: { at, message },
  graph,
}: {
  problem: ReportedProblem;
  graph: WorkflowGraph;
}) {
  const name = at.kind === "node" && at.id ? graph.nodes[at.id]?.name || at.id : null;
  return (
    <>
      {name ? <span className="font-medium text-ink">{name}: </span> : null}
      {message}
    </>
  );
}

const linkClass =
  "text-left text-ink-2 underline-offset-2 hover:text-accent hover:underline pointer-coarse:py-1.5";

/** One place may have the same problem twice, such as two fields of a node. */
const keyOf = ({ at, message }: ReportedProblem) => `${at.kind} ${at.id ?? ""} ${message}`;

const once = (problems: readonly ReportedProblem[]): ReportedProblem[] => [
  ...new Map(problems.map((problem) => [keyOf(problem), problem])).values(),
];

const placeOf = (workflowId: string, { at }: ReportedProblem) =>
  `/workflows/${workflowId}${at.kind === "node" && at.id ? `?node=${encodeURIComponent(at.id)}` : ""}`;
