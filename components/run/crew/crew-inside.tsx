"use client";

import clsx from "clsx";
import { UsersRound, X } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef } from "react";
import { countOf } from "@/components/display/format";
import { useRun } from "@/components/run/run-context";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { CrewRun, RunState } from "@/server/domain/run";
import { CrewDrawing } from "./crew-drawing";
import { layoutOf } from "./crew-layout";
import { crewRunDiagnostics } from "./crew-run-diagnostics";
import { type CrewTab, cardOf, useCrewStage } from "./crew-stage";
import type { CrewScene } from "./members";
import { useCrew, useHeadCrew } from "./use-crew";

/** The content of an open crew's card: its members and their exchanges. */
export function CrewInside({ node }: { node: WorkflowNode }) {
  const stage = useCrewStage();
  const activationId = useRun(({ state }) => state.nodes[node.id]?.activation, undefined);
  const scene = useCrew(activationId);
  const whole = useHeadCrew(node.id);
  const layout = useMemo(() => whole.crew && layoutOf(whole.crew, whole.plan), [whole.crew, whole.plan]);
  const section = useRef<HTMLElement>(null);
  if (!stage || !layout) return null;
  const name = node.name || node.id;
  const close = () => {
    stage.fold(node.id);
    cardOf(node.id)?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    // The canvas has keys of its own.
    event.stopPropagation();
    if (event.key === "Escape" && !event.defaultPrevented) {
      event.preventDefault();
      close();
    } else if (event.target === section.current && event.key.startsWith("Arrow")) {
      event.preventDefault();
      section.current
        .querySelector<HTMLElement>('[data-member][tabindex="0"]')
        ?.focus({ preventScroll: true });
    }
  };
  const panelView = stage.panelView?.nodeId === node.id ? stage.panelView : null;
  return (
    <section
      ref={section}
      aria-label={`Crew of ${name}`}
      data-crew={node.id}
      tabIndex={-1}
      className="card-inside nodrag"
      onKeyDown={onKeyDown}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <header className="card-bar">
        {scene ? <CrewFacts crew={scene.crew} /> : null}
        <IconButton label="Collapse crew" shortcut="Esc" icon={<X aria-hidden />} size="sm" onClick={close} />
      </header>
      <div style={{ ...layout.size }}>
        {scene ? (
          <CrewDrawing
            scene={scene}
            layout={layout}
            picked={panelView?.picked ?? null}
            onPick={(picked) =>
              stage.showInPanel({
                nodeId: node.id,
                tab: picked.kind === "member" ? "members" : "messages",
                picked,
              })
            }
          />
        ) : (
          <p className="flex size-full flex-col items-center justify-center gap-2 text-sm text-ink-2">
            <UsersRound aria-hidden className="size-6 text-ink-3" />
            Crew not started
          </p>
        )}
      </div>
      <footer className="crew-links">{scene ? <CrewLinks nodeId={node.id} scene={scene} /> : null}</footer>
    </section>
  );
}

/** How it works, and how far it has come. */
export function CrewFacts({ crew, className }: { crew: CrewRun; className?: string }) {
  return (
    <p className={clsx("flex min-w-0 items-center gap-2 text-[13px] text-ink-2", className)}>
      <Badge>{CREW_PROCESSES[crew.process].title}</Badge>
      <span className="truncate tabular-nums">
        {[
          countOf(crew.members.length, "member"),
          crew.round > 0 ? `round ${crew.round}` : "",
          crew.handoffs > 0 ? countOf(crew.handoffs, "handoff") : "",
          { running: "", completed: "done", failed: "failed", stopped: "stopped" }[crew.status],
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </p>
  );
}

/** The views of a crew that have something to show, with how much it is. */
export function viewsOf(
  { crew, plan }: { crew: CrewRun; plan: ExecutionPlan | undefined },
  diagnosticCount: number,
) {
  const bulletins = Object.keys(crew.board).length;
  const proposals = Object.keys(crew.proposals).length;
  const hasBoard = bulletins > 0 || Object.keys(crew.teams).length > 0 || crew.ledger !== undefined;
  const views: { value: CrewTab; label: string; count: number }[] = [
    ...(plan ? [{ value: "plan" as const, label: "Plan", count: plan.tasks.length }] : []),
    ...(hasBoard ? [{ value: "board" as const, label: "Board", count: bulletins }] : []),
    ...(proposals > 0 || crew.process === "consensus"
      ? [{ value: "votes" as const, label: "Votes", count: proposals }]
      : []),
    { value: "messages", label: "Messages", count: crew.exchanges.length },
    ...(diagnosticCount > 0
      ? [{ value: "troubles" as const, label: "Diagnostics", count: diagnosticCount }]
      : []),
    { value: "costs", label: "Cost", count: 0 },
  ];
  return views;
}

/** Opens the rest of a crew in the panel next to the canvas. */
export function CrewLinks({ nodeId, scene }: { nodeId: string; scene: CrewScene }) {
  const stage = useCrewStage();
  const checked = useRun<RunState["criteria"][string] | undefined>(
    ({ state }) => state.criteria[scene.crew.activation_id],
    undefined,
  );
  if (!stage) return null;
  const views = viewsOf(scene, crewRunDiagnostics(scene, checked ?? []).length).filter(
    ({ value, count }) => value === "costs" || count > 0 || value === "board",
  );
  return (
    <>
      {views.map(({ value, label, count }) => (
        <button
          key={value}
          type="button"
          onClick={() => stage.showInPanel({ nodeId, tab: value, picked: null })}
          className="inline-flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-[13px] font-medium text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:h-10"
        >
          {label}
          {count > 0 ? <span className="font-normal text-ink-3 tabular-nums">{count}</span> : null}
        </button>
      ))}
    </>
  );
}
