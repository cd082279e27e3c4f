"use client";

import clsx from "clsx";
import { TriangleAlert, UsersRound, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { countOf } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { AgentTranscript } from "@/components/run/agent-transcript";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/sentences";
import { TextBlock, ValueView } from "@/components/run/values";
import { Badge } from "@/components/ui/badge";
import { Disclosure } from "@/components/ui/disclosure";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Tabs } from "@/components/ui/tabs";
import { CREW_PROCESSES } from "@/server/domain/crew/crew";
import type { CrewExchange, CrewRun, RunState } from "@/server/domain/run";
import { ActivationAsks } from "./asks";
import { Costs } from "./costs";
import { CrewDrawing, type Picked, StateIcon } from "./crew-drawing";
import { Board, ExchangeTitle, Messages, PlanViews, Votes } from "./crew-views";
import { wordsOf } from "./drawing";
import { byDelegation, type CrewScene, memberLook } from "./members";
import { type Trouble, troublesOf } from "./troubles";
import { useCrew } from "./use-crew";

type Tab = "crew" | "plan" | "board" | "votes" | "messages" | "checks" | "costs";

/** A crew looked into: who does what, the plan, the board, the votes, all messages, and what it takes. */
export function CrewPanel({
  nodeId,
  onClose,
  className,
}: {
  nodeId: string;
  /** Absent where something around it has its name and closes it. */
  onClose?: () => void;
  className?: string;
}) {
  const activationId = useRun(({ state }) => state.nodes[nodeId]?.activation, undefined);
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  const scene = useCrew(activationId);
  return (
    <div className={clsx("flex min-h-0 flex-1 flex-col", className)}>
      <header className="flex shrink-0 items-center gap-2.5 px-4 pt-2.5">
        {onClose ? (
          <>
            <UsersRound aria-hidden className="size-4 shrink-0 text-ink-3" />
            <h2 className="min-w-0 truncate text-[15px] font-semibold">{name}</h2>
          </>
        ) : null}
        {scene ? <CrewFacts crew={scene.crew} /> : null}
        {onClose ? (
          <IconButton
            label="Close the crew"
            shortcut="Esc"
            icon={<X aria-hidden />}
            size="sm"
            className="ml-auto"
            onClick={onClose}
          />
        ) : null}
      </header>
      {scene && activationId ? (
        <Views key={activationId} scene={scene} activationId={activationId} />
      ) : (
        <EmptyState icon={<UsersRound />} title="The crew has not begun" className="flex-1 justify-center">
          Its members appear here as soon as it is at work.
        </EmptyState>
      )}
    </div>
  );
}

function CrewFacts({ crew }: { crew: CrewRun }) {
  return (
    <p className="flex min-w-0 shrink-0 items-center gap-2 text-xs text-ink-3">
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

function Views({ scene, activationId }: { scene: CrewScene; activationId: string }) {
  const [tab, setTab] = useState<Tab>("crew");
  const [picked, setPicked] = useState<Picked | null>(null);
  const { crew, plan } = scene;
  const checked = useRun<RunState["criteria"][string] | undefined>(
    ({ state }) => state.criteria[activationId],
    undefined,
  );
  const troubles = troublesOf(scene, checked ?? []);
  const pickMessage = (seq: number) => {
    setPicked({ kind: "exchange", seq });
    setTab("crew");
  };
  const count = (n: number) =>
    n > 0 ? <span className="text-xs font-normal text-ink-3 tabular-nums">{n}</span> : null;
  const bulletins = Object.keys(crew.board).length;
  const proposals = Object.keys(crew.proposals).length;
  const hasNotes = bulletins > 0 || Object.keys(crew.teams).length > 0 || crew.ledger !== undefined;
  const tabs: { value: Tab; label: string; badge?: React.ReactNode; content: React.ReactNode }[] = [
    {
      value: "crew",
      label: "Crew",
      content: <Crew scene={scene} activationId={activationId} picked={picked} onPick={setPicked} />,
    },
  ];
  if (plan)
    tabs.push({
      value: "plan",
      label: "Plan",
      badge: count(plan.tasks.length),
      content: <PlanViews plan={plan} activationId={activationId} />,
    });
  if (hasNotes || tab === "board")
    tabs.push({ value: "board", label: "Board", badge: count(bulletins), content: <Board crew={crew} /> });
  if (proposals > 0 || crew.process === "consensus" || tab === "votes")
    tabs.push({ value: "votes", label: "Votes", badge: count(proposals), content: <Votes crew={crew} /> });
  tabs.push({
    value: "messages",
    label: "Messages",
    badge: count(crew.exchanges.length),
    content: <Messages crew={crew} onPick={pickMessage} />,
  });
  if (troubles.length > 0 || tab === "checks")
    tabs.push({
      value: "checks",
      label: "Troubles and checks",
      badge: count(troubles.length),
      content: <Troubles troubles={troubles} />,
    });
  tabs.push({
    value: "costs",
    label: "Cost",
    content: (
      <div className="p-4">
        <Costs calls={scene.calls} />
      </div>
    ),
  });
  const shown = tabs.some(({ value }) => value === tab) ? tab : "crew";
  return (
    <Tabs<Tab>
      label="Views of the crew"
      value={shown}
      onValueChange={setTab}
      className="min-h-0 flex-1"
      listClassName="px-4"
      panelClassName={shown === "crew" ? "flex min-h-0 flex-col" : "overflow-y-auto overscroll-contain"}
      tabs={tabs}
    />
  );
}

function Troubles({ troubles }: { troubles: readonly Trouble[] }) {
  return (
    <ul aria-label="Troubles and checks" className="flex flex-col gap-2 p-4 text-[13px]">
      {troubles.map(({ key, status, text }) => (
        <li key={key} className="flex items-start gap-2">
          {status === "warning" ? (
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
          ) : (
            <StatusMark status={status} size="sm" className="mt-0.5" />
          )}
          <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
        </li>
      ))}
    </ul>
  );
}

/** The drawing, and beside it (below, on phones) what was picked in it. */
function Crew({
  scene,
  activationId,
  picked,
  onPick,
}: {
  scene: CrewScene;
  activationId: string;
  picked: Picked | null;
  onPick: (picked: Picked | null) => void;
}) {
  const { crew } = scene;
  const exchange =
    picked?.kind === "exchange" ? crew.exchanges.find(({ seq }) => seq === picked.seq) : undefined;
  const member =
    picked?.kind === "member" ? crew.members.find(({ agent_id }) => agent_id === picked.id) : undefined;
  const latest = crew.exchanges.at(-1);
  const about = useRef<HTMLElement>(null);
  const pickedKey = picked === null ? null : picked.kind === "member" ? picked.id : picked.seq;
  useEffect(() => {
    // On a phone it stands below the drawing, out of sight.
    if (pickedKey !== null && matchMedia("(max-width: 47.99rem)").matches)
      about.current?.scrollIntoView({ block: "start" });
  }, [pickedKey]);
  return (
    <div className="crew-split flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col max-md:min-h-[26rem]">
        <div className="min-h-0 flex-1">
          <CrewDrawing scene={scene} picked={picked} onPick={onPick} />
        </div>
        {latest && !exchange ? (
          <button
            type="button"
            onClick={() => onPick({ kind: "exchange", seq: latest.seq })}
            className="flex shrink-0 flex-col gap-0.5 border-t border-line px-4 py-2 text-left hover:bg-ink/4"
          >
            <ExchangeTitle crew={crew} exchange={latest} />
            <span className="line-clamp-1 text-[13px] text-ink-2">{wordsOf(latest)}</span>
          </button>
        ) : null}
      </div>
      {member || exchange ? (
        <aside
          ref={about}
          aria-label={member ? `About ${person(member.agent_id)}` : "What was said"}
          className="flex min-h-0 shrink-0 flex-col border-line max-md:border-t md:w-[22rem] md:border-l"
        >
          <div className="flex items-start gap-2 px-4 pt-3 pb-2">
            <div className="min-w-0 flex-1">
              {member ? (
                <MemberTitle scene={scene} agentId={member.agent_id} roleName={member.role_name} />
              ) : exchange ? (
                <ExchangeTitle crew={crew} exchange={exchange} />
              ) : null}
            </div>
            <IconButton label="Close" plain icon={<X aria-hidden />} size="sm" onClick={() => onPick(null)} />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto overscroll-contain px-4 pb-4">
            {member ? (
              <MemberWork scene={scene} agentId={member.agent_id} description={member.description} />
            ) : exchange ? (
              <ExchangeText exchange={exchange} />
            ) : null}
          </div>
        </aside>
      ) : (
        <OpenAsks activationId={activationId} />
      )}
    </div>
  );
}

function OpenAsks({ activationId }: { activationId: string }) {
  const hasOpen = useRun(
    ({ state }) =>
      state.run.status !== "finished" &&
      Object.values(state.interactions).some(
        (ask) => ask.activation_id === activationId && ask.status === "open",
      ),
    false,
  );
  return hasOpen ? (
    <aside
      aria-label="Questions for you"
      className="min-h-0 shrink-0 overflow-y-auto border-line p-3 max-md:border-t md:w-[22rem] md:border-l"
    >
      <ActivationAsks activationId={activationId} />
    </aside>
  ) : null;
}

function MemberTitle({ scene, agentId, roleName }: { scene: CrewScene; agentId: string; roleName: string }) {
  const look = memberLook(scene, agentId);
  return (
    <>
      <h3 className="truncate text-sm font-semibold">{person(agentId)}</h3>
      <p className="flex items-center gap-1.5 text-xs text-ink-2">
        <span className="truncate">{roleName}</span>
        <span aria-hidden className="text-ink-3">
          ·
        </span>
        <StateIcon state={look.state} />
        <span className="shrink-0">{look.text}</span>
      </p>
    </>
  );
}

/** All that one member did: a conversation for each of its tasks, the newest open. */
function MemberWork({
  scene,
  agentId,
  description,
}: {
  scene: CrewScene;
  agentId: string;
  description: string | undefined;
}) {
  const mine = byDelegation(scene.agents).filter(({ agent_id }) => agent_id === agentId);
  const newest = mine.at(-1);
  return (
    <>
      {description ? <p className="text-[13px] text-ink-2">{description}</p> : null}
      {newest && newest.tools.length > 0 ? (
        <p className="flex flex-wrap items-center gap-1 text-xs text-ink-3">
          May use
          {newest.tools.map((tool) => (
            <code key={tool} className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[11px] text-ink-2">
              {tool}
            </code>
          ))}
        </p>
      ) : null}
      {mine.length === 0 ? <p className="text-[13px] text-ink-3">It has not been needed yet.</p> : null}
      {mine.length === 1 && newest ? (
        <AgentTranscript agentKey={newest.key} />
      ) : (
        mine.map((agent) => (
          <Disclosure
            key={agent.key}
            title={taskTitle(scene, agent.task_id)}
            isOpen={agent.key === newest?.key}
          >
            <AgentTranscript agentKey={agent.key} />
          </Disclosure>
        ))
      )}
    </>
  );
}

function taskTitle(scene: CrewScene, taskId: string | undefined): string {
  if (taskId === undefined) return "The work as a whole";
  const title = scene.plan?.tasks.find(({ task_id }) => task_id === taskId)?.description ?? taskId;
  return title.length > 44 ? `${title.slice(0, 43)}…` : title;
}

function ExchangeText({ exchange }: { exchange: CrewExchange }) {
  return (
    <>
      <TextBlock text={wordsOf(exchange)} label="message" />
      {exchange.kind === "handoff" && exchange.handoff.context ? (
        <div>
          <p className="mb-1 text-xs text-ink-3">Handed over with it</p>
          <ValueView value={exchange.handoff.context} label="what was handed over" />
        </div>
      ) : null}
      {exchange.kind === "delegation" ? (
        <p className="text-xs text-ink-3">
          {exchange.done === "completed"
            ? "It was done and returned."
            : exchange.done === "failed"
              ? "It could not be done."
              : exchange.done === "stopped"
                ? "It was stopped: the result was not needed any more."
                : "It is being worked on."}
        </p>
      ) : null}
      {exchange.kind === "vote" && exchange.vote.confidence !== null ? (
        <p className="text-xs text-ink-3 tabular-nums">
          Sure to {Math.round(exchange.vote.confidence * 100)} %.
        </p>
      ) : null}
    </>
  );
}
