"use client";

import { useEffect, useState } from "react";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { FINDING_KINDS, type Finding } from "@/server/domain/run/findings/finding";
import { MomentLink } from "./moment-link";
import { useAllEvents } from "./use-past";

/** The detectors come when a run has ended, not with the page. */
const loadDetectors = () => import("@/server/domain/run/findings");

const NONE: readonly Finding[] = [];

/** The findings of the run, once it rests: while it runs, problems may still resolve. */
export function useFindings(): readonly Finding[] {
  const events = useAllEvents();
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const [found, setFound] = useState<{ of: typeof events; findings: readonly Finding[] } | null>(null);
  useEffect(() => {
    if (!isOver || events.length === 0) return;
    let isGone = false;
    void loadDetectors().then(({ findingsOf }) => {
      if (!isGone) setFound({ of: events, findings: findingsOf(events) });
    });
    return () => {
      isGone = true;
    };
  }, [events, isOver]);
  return isOver && found?.of === events ? found.findings : NONE;
}

/** Known failures that the events of the run prove, each with its moment and advice. */
export function FindingsView({ findings }: { findings: readonly Finding[] }) {
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="text-[13px] text-ink-2">
        Known failure patterns in this run's events, found without a model. They may not be the cause.
      </p>
      <ul aria-label="Diagnostics" className="flex flex-col gap-3">
        {findings.map((finding) => (
          <li
            key={`${finding.kind} ${finding.seq} ${finding.agent_id ?? ""}`}
            className="flex flex-col gap-1.5 rounded-xl border border-waiting/40 bg-raised px-4 py-3 text-[13px]"
          >
            <OneFinding finding={finding} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function OneFinding({ finding: { kind, seq, node_id, said, advice } }: { finding: Finding }) {
  const page = useRunPage();
  const name = useRun(({ head }) => (node_id ? head.graph.nodes[node_id]?.name || node_id : ""), "");
  return (
    <>
      <div className="flex items-baseline gap-2">
        <h2 className="min-w-0 flex-1 font-semibold">{FINDING_KINDS[kind]}</h2>
        <MomentLink seq={seq} about={said} />
      </div>
      <p className="[overflow-wrap:anywhere]">{upperFirst(said)}</p>
      <p className="text-ink-2 [overflow-wrap:anywhere]">{advice}</p>
      {node_id && page ? (
        <button
          type="button"
          onClick={() => page.openNode(node_id)}
          className="self-start text-xs font-medium text-accent hover:text-accent-hover pointer-coarse:py-2"
        >
          Show {name}
        </button>
      ) : null}
    </>
  );
}

const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
