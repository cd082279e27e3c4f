"use client";

import clsx from "clsx";
import { Check, CircleHelp, X } from "lucide-react";
import { formatList } from "@/components/display/format";
import type { Activation } from "@/server/domain/run";
import { useRun } from "../run-context";
import { ViewPart } from "../view-part";
import { routeOf } from "./route";

/** What a router decided, how, and why. */
export function RouterDecision({ activation }: { activation: Activation }) {
  const { decided, node_id, next } = activation;
  const graph = useRun(({ state }) => state.graph, null);
  if (!decided || !graph) return null;
  const { names, isFallback } = routeOf(graph, node_id, decided.labels);
  const how: Record<string, string> = {
    function: "Decided by a named rule.",
    expression: "Decided by the first matching condition.",
    value: "Decided by a value.",
    llm: "Decided by a model.",
  };
  return (
    <ViewPart title="Decision">
      <p className="text-[13px]">
        {names.length > 0 ? (
          <>
            {next === undefined ? "Took" : "Chose"}{" "}
            <strong className="font-semibold">{formatList(names)}</strong>.{" "}
          </>
        ) : (
          "No route matched. "
        )}
        <span className="text-ink-2">{how[decided.kind] ?? ""}</span>
        {next !== undefined ? (
          <span className="block text-waiting [overflow-wrap:anywhere]">
            Overridden: a person sent the run to {graph.nodes[next]?.name || next}.
          </span>
        ) : null}
        {isFallback && decided.labels.length > 0 ? (
          <span className="block text-waiting [overflow-wrap:anywhere]">
            No route matches {decided.labels.map((label) => `“${label}”`).join(", ")}.
          </span>
        ) : null}
      </p>
      {decided.reason ? (
        <blockquote className="border-l-2 border-line-strong pl-3 text-[13px] text-ink-2">
          {decided.reason}
          {decided.confidence !== undefined && decided.confidence !== null ? (
            <span className="ml-2 text-xs text-ink-3 tabular-nums">
              confidence {Math.round(decided.confidence * 100)}%
            </span>
          ) : null}
        </blockquote>
      ) : null}
      {decided.evaluations && decided.evaluations.length > 0 ? (
        <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
          {decided.evaluations.map(({ label, when, value, note }) => (
            <li key={`${label} ${when}`} className="flex items-start gap-2.5 px-3 py-2 text-[13px]">
              {note ? (
                <CircleHelp aria-label="Couldn't evaluate" className="mt-0.5 size-4 shrink-0 text-waiting" />
              ) : value ? (
                <Check aria-label="True" className="mt-0.5 size-4 shrink-0 text-completed" />
              ) : (
                <X aria-label="False" className="mt-0.5 size-4 shrink-0 text-ink-3" />
              )}
              <span className="min-w-0 flex-1">
                <span className={clsx(value ? "font-medium text-ink" : "text-ink-2")}>{label}</span>
                <code className="mt-0.5 block font-mono text-xs text-ink-3 [overflow-wrap:anywhere]">
                  {when}
                </code>
                {note ? <span className="mt-0.5 block text-xs text-ink-2">{note}</span> : null}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </ViewPart>
  );
}
