"use client";

import { ArrowLeft, Maximize2, TriangleAlert, UsersRound } from "lucide-react";
import type { ReactNode } from "react";
import { StatusMark } from "@/components/display/status-mark";
import { useRun } from "@/components/run/run-context";
import { TeamButton } from "@/components/run/team/team-button";
import { person } from "@/components/run/timeline/sentence-parts";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/input/select";
import { Tabs } from "@/components/ui/tabs";
import type { CrewRun, RunState } from "@/server/domain/run";
import { ActivationAsks } from "../questions/asks";
import { Costs } from "./costs";
import type { Picked } from "./crew-drawing";
import { CrewFacts, viewsOf } from "./crew-inside";
import { MemberRows } from "./crew-rows";
import { type CrewRunDiagnostic, crewRunDiagnostics } from "./crew-run-diagnostics";
import { type CrewTab, useCrewStage } from "./crew-stage";
import { Board, ExchangeTitle, Messages, PlanViews, Votes } from "./crew-views";
import { ExchangeText, MemberTitle, MemberWork } from "./member-work";
import type { CrewScene } from "./members";
import { useCrew } from "./use-crew";

/** The crews of a run next to the canvas: work, plan, board, votes, messages and cost. */
export function CrewPanel({ nodeIds, fallback }: { nodeIds: readonly string[]; fallback: string | null }) {
  const stage = useCrewStage();
  const asked = stage?.panelView?.nodeId ?? fallback;
  const nodeId = asked !== null && nodeIds.includes(asked) ? asked : nodeIds[0];
  if (!stage || nodeId === undefined) return null;
  const panelView = stage.panelView?.nodeId === nodeId ? stage.panelView : null;
  return (
    <OneCrew
      key={nodeId}
      nodeId={nodeId}
      nodeIds={nodeIds}
      tab={panelView?.tab ?? "members"}
      picked={panelView?.picked ?? null}
      onViewChange={(tab, picked) => stage.showInPanel({ nodeId, tab, picked })}
      onNode={(id) => stage.showInPanel({ nodeId: id, tab: "members", picked: null })}
      onUnfold={stage.open.has(nodeId) ? undefined : () => stage.unfold(nodeId)}
    />
  );
}

interface OneCrewProps {
  nodeId: string;
  nodeIds: readonly string[];
  tab: CrewTab;
  picked: Picked | null;
  onViewChange: (tab: CrewTab, picked: Picked | null) => void;
  onNode: (nodeId: string) => void;
  /** Absent if it is already open on the canvas. */
  onUnfold: (() => void) | undefined;
}

function OneCrew({ nodeId, nodeIds, tab, picked, onViewChange, onNode, onUnfold }: OneCrewProps) {
  const activationId = useRun(({ state }) => state.nodes[nodeId]?.activation, undefined);
  const scene = useCrew(activationId);
  return (
    <div className="flex min-h-full flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1.5 px-4 pt-3">
        <CrewName nodeId={nodeId} nodeIds={nodeIds} onNode={onNode} />
        <span className="ml-auto flex items-center gap-1.5">
          <TeamButton nodeId={nodeId} />
          {onUnfold ? (
            <IconButton
              label="Expand on canvas"
              size="sm"
              icon={<Maximize2 aria-hidden />}
              onClick={onUnfold}
            />
          ) : null}
        </span>
        {scene ? <CrewFacts crew={scene.crew} className="w-full" /> : null}
      </header>
      {scene && activationId ? (
        <Views
          key={activationId}
          scene={scene}
          activationId={activationId}
          tab={tab}
          picked={picked}
          onViewChange={onViewChange}
        />
      ) : (
        <EmptyState icon={<UsersRound />} title="Crew not started" className="flex-1 justify-center">
          Its members appear here once it starts.
        </EmptyState>
      )}
    </div>
  );
}

function CrewName({
  nodeId,
  nodeIds,
  onNode,
}: {
  nodeId: string;
  nodeIds: readonly string[];
  onNode: (nodeId: string) => void;
}) {
  const graph = useRun(({ head }) => head.graph, null);
  const nameOf = (id: string) => graph?.nodes[id]?.name || id;
  return nodeIds.length > 1 ? (
    <Select
      label="Crew"
      hideLabel
      size="sm"
      value={nodeId}
      onValueChange={onNode}
      options={nodeIds.map((id) => ({ value: id, label: nameOf(id) }))}
      fieldClassName="min-w-0 flex-1"
    />
  ) : (
    <h2 className="min-w-0 truncate text-base font-semibold">{nameOf(nodeId)}</h2>
  );
}

function Views({
  scene,
  activationId,
  tab,
  picked,
  onViewChange,
}: {
  scene: CrewScene;
  activationId: string;
  tab: CrewTab;
  picked: Picked | null;
  onViewChange: (tab: CrewTab, picked: Picked | null) => void;
}) {
  const { crew, plan } = scene;
  const checked = useRun<RunState["criteria"][string] | undefined>(
    ({ state }) => state.criteria[activationId],
    undefined,
  );
  const diagnostics = crewRunDiagnostics(scene, checked ?? []);
  const contents: Record<CrewTab, () => ReactNode> = {
    members: () => (
      <Members scene={scene} activationId={activationId} picked={picked} onViewChange={onViewChange} />
    ),
    plan: () => (plan ? <PlanViews plan={plan} activationId={activationId} /> : <NoneYet what="plan" />),
    board: () => <Board crew={crew} />,
    votes: () => <Votes crew={crew} />,
    messages: () => <MessagesTab crew={crew} picked={picked} onViewChange={onViewChange} />,
    troubles: () => <Diagnostics diagnostics={diagnostics} />,
    costs: () => (
      <div className="p-4">
        <Costs calls={scene.calls} />
      </div>
    ),
  };
  const views = viewsOf(scene, diagnostics.length);
  // The past has less to show: the selected part stays.
  const kept =
    tab === "members" || views.some(({ value }) => value === tab)
      ? []
      : [{ value: tab, label: NAMES[tab], count: 0 }];
  return (
    <Tabs<CrewTab>
      label="Crew views"
      value={tab}
      onValueChange={(next) => onViewChange(next, null)}
      className="mt-1 min-h-0 flex-1"
      listClassName="px-4 gap-3.5"
      tabs={[{ value: "members" as const, label: NAMES.members, count: 0 }, ...views, ...kept].map(
        ({ value, label, count }) => ({
          value,
          label,
          badge:
            count > 0 ? <span className="text-xs font-normal text-ink-3 tabular-nums">{count}</span> : null,
          content: value === tab ? contents[value]() : null,
        }),
      )}
    />
  );
}

const NAMES: Record<CrewTab, string> = {
  members: "Members",
  plan: "Plan",
  board: "Board",
  votes: "Votes",
  messages: "Messages",
  troubles: "Troubles",
  costs: "Cost",
};

const NoneYet = ({ what }: { what: string }) => (
  <EmptyState icon={<UsersRound />} title={`No ${what} yet`}>
    It appears here once the crew has one.
  </EmptyState>
);

function Diagnostics({ diagnostics }: { diagnostics: readonly CrewRunDiagnostic[] }) {
  return (
    <ul aria-label="Diagnostics" className="flex flex-col gap-2 p-4 text-[13px]">
      {diagnostics.map(({ key, status, text }) => (
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

/** All members, or one with its work. */
function Members({
  scene,
  activationId,
  picked,
  onViewChange,
}: {
  scene: CrewScene;
  activationId: string;
  picked: Picked | null;
  onViewChange: (tab: CrewTab, picked: Picked | null) => void;
}) {
  const member =
    picked?.kind === "member" ? scene.crew.members.find(({ agent_id }) => agent_id === picked.id) : undefined;
  if (!member)
    return (
      <div className="flex flex-col gap-2 py-2">
        <div className="px-4 empty:hidden">
          <ActivationAsks activationId={activationId} />
        </div>
        <MemberRows scene={scene} onPick={(id) => onViewChange("members", { kind: "member", id })} />
      </div>
    );
  return (
    <section aria-label={`About ${person(member.agent_id)}`} className="flex flex-col gap-3 p-4 pt-2">
      <Back label="All members" onClick={() => onViewChange("members", null)} />
      <MemberTitle scene={scene} agentId={member.agent_id} roleName={member.role_name} />
      <div className="empty:hidden">
        <ActivationAsks activationId={activationId} />
      </div>
      <MemberWork scene={scene} agentId={member.agent_id} description={member.description} />
    </section>
  );
}

/** All messages, or one in full. */
function MessagesTab({
  crew,
  picked,
  onViewChange,
}: {
  crew: CrewRun;
  picked: Picked | null;
  onViewChange: (tab: CrewTab, picked: Picked | null) => void;
}) {
  const exchange =
    picked?.kind === "exchange" ? crew.exchanges.find(({ seq }) => seq === picked.seq) : undefined;
  if (!exchange)
    return <Messages crew={crew} onPick={(seq) => onViewChange("messages", { kind: "exchange", seq })} />;
  return (
    <section aria-label="Message details" className="flex flex-col gap-3 p-4 pt-2">
      <Back label="All messages" onClick={() => onViewChange("messages", null)} />
      <ExchangeTitle crew={crew} exchange={exchange} />
      <ExchangeText exchange={exchange} />
    </section>
  );
}

const Back = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <Button
    size="sm"
    variant="ghost"
    icon={<ArrowLeft aria-hidden />}
    className="-ml-2 self-start"
    onClick={onClick}
  >
    {label}
  </Button>
);
