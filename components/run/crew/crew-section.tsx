"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { lineLabel, linesOf, PROPOSAL } from "./crew-edges";
import { CrewFacts, CrewLinks } from "./crew-inside";
import { MemberRows } from "./crew-rows";
import { useCrewStage } from "./crew-stage";
import { useCrew } from "./use-crew";
import "./crew.css";

const intoView = (section: HTMLElement | null) => section?.parentElement?.scrollIntoView({ block: "start" });

/** How many of the newest lines are listed below the members. */
const LINES = 4;

/** A crew that expands below its node in the list of nodes, on screens too small for the canvas. */
export function CrewSection({ nodeId }: { nodeId: string }) {
  const stage = useCrewStage();
  const activationId = useRun(({ state }) => state.nodes[nodeId]?.activation, undefined);
  const scene = useCrew(activationId);
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  if (!stage || !scene) return null;
  const isOpen = stage.open.has(nodeId);
  const lines = linesOf(scene.crew).slice(-LINES).reverse();
  return (
    <div className="scroll-mt-12 pb-1 pl-12">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => (isOpen ? stage.fold(nodeId) : stage.unfold(nodeId))}
        className="inline-flex h-8 items-center gap-1 rounded-lg px-2 text-[13px] font-medium text-accent hover:bg-accent-soft pointer-coarse:h-11"
      >
        {isOpen ? (
          <ChevronDown aria-hidden className="size-4" />
        ) : (
          <ChevronRight aria-hidden className="size-4" />
        )}
        <span>
          {isOpen ? "Collapse" : "Expand"} <span className="sr-only">the </span>crew
          <span className="sr-only"> of {name}</span>
        </span>
      </button>
      {isOpen ? (
        <section
          // Above it is little room on a phone: what was just opened is to be seen.
          ref={intoView}
          aria-label={`Crew of ${name}`}
          className="-ml-10 mt-1 flex flex-col rounded-xl border border-line bg-surface"
        >
          <CrewFacts crew={scene.crew} className="px-3 pt-2.5 pb-1" />
          <MemberRows
            scene={scene}
            onPick={(id) => stage.showInPanel({ nodeId, tab: "members", picked: { kind: "member", id } })}
          />
          {lines.length > 0 ? (
            <ul aria-label="Messages between members" className="border-t border-line px-1 py-1.5">
              {lines.map((line) => (
                <li key={line.key}>
                  <button
                    type="button"
                    onClick={() =>
                      stage.showInPanel({
                        nodeId,
                        tab: "messages",
                        picked: { kind: "exchange", seq: line.latest.seq },
                      })
                    }
                    className="flex min-h-8 w-full flex-wrap items-center gap-x-1.5 rounded-lg px-2 text-left text-[13px] hover:bg-ink/5 pointer-coarse:min-h-11"
                  >
                    <span className="font-medium">{person(line.from)}</span>
                    <span className="text-ink-2">{lineLabel(line)}</span>
                    <span aria-hidden className="text-ink-3">
                      →
                    </span>
                    <span className="font-medium">
                      {line.to.startsWith(PROPOSAL) ? "the proposal" : person(line.to)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          ) : null}
          <div className="flex flex-wrap border-t border-line px-1 py-1">
            <CrewLinks nodeId={nodeId} scene={scene} />
          </div>
        </section>
      ) : null}
    </div>
  );
}
