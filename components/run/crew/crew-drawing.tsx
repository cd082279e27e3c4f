"use client";

import { Ban, Brain, Check, Crown, Dot, Hourglass, ShieldAlert, UserRound, Wrench, X } from "lucide-react";
import { type CSSProperties, type KeyboardEvent, useMemo, useState } from "react";
import { endOfText } from "@/components/display/one-line";
import { RoleFace } from "@/components/display/role-face";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { CrewExchange } from "@/server/domain/run";
import {
  type CrewEdge,
  exchangeText,
  linesOf,
  memberNamed,
  PROPOSAL,
  REQUESTER,
  routeLines,
  type Size,
  type Spot,
} from "./crew-edges";
import { type CrewLayout, MEMBER, PROPOSAL_SIZE, sizeOf } from "./crew-layout";
import { type CrewScene, lastMessage, type MemberState, memberActivity, taskOf } from "./members";

/** The selected member or line. */
export type Picked = { kind: "member"; id: string } | { kind: "exchange"; seq: number };

/** The members of a crew, their activity, and the exchanges between them; the newest line is highlighted. */
export function CrewDrawing({
  scene,
  layout: { size, spots },
  picked,
  onPick,
}: {
  scene: CrewScene;
  layout: CrewLayout;
  picked: Picked | null;
  onPick: (picked: Picked) => void;
}) {
  const { crew } = scene;
  const lines = useMemo(() => linesOf(crew), [crew]);
  const proposal = Object.values(crew.proposals).at(-1);
  const proposalSpot = proposal && spots[PROPOSAL + proposal.id];
  const ids = crew.members.map(({ agent_id }) => agent_id);
  const [stop, setStop] = useState<string | null>(null);
  // The first focus: a running member.
  const working = ids.find((id) => WORKING.has(memberActivity(scene, id).state));
  const stopId = stop !== null && ids.includes(stop) ? stop : (working ?? ids[0]);
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const next = event.altKey ? undefined : toward(event.key, stopId, ids, spots);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next);
    event.currentTarget
      .querySelector<HTMLElement>(`[data-member="${CSS.escape(next)}"]`)
      ?.focus({ preventScroll: true });
  };
  return (
    <div className="crew-drawing" style={{ ...size }}>
      <Lines lines={lines} spots={spots} area={size} picked={picked} onPick={onPick} />
      <ul aria-label="Members" onKeyDown={walk}>
        {crew.members.map(({ agent_id, role_name }) => {
          const spot = spots[agent_id];
          return spot ? (
            <li key={agent_id} className="crew-place" style={at(spot)}>
              <MemberCard
                scene={scene}
                agentId={agent_id}
                roleName={role_name}
                isPicked={picked?.kind === "member" && picked.id === agent_id}
                tabIndex={agent_id === stopId ? 0 : -1}
                onPick={() => {
                  setStop(agent_id);
                  onPick({ kind: "member", id: agent_id });
                }}
              />
            </li>
          ) : null;
        })}
      </ul>
      {spots[REQUESTER] ? (
        <p className="crew-pill" style={at(spots[REQUESTER])}>
          <UserRound aria-hidden />
          Requester
        </p>
      ) : null}
      {proposal && proposalSpot ? (
        <div
          className="crew-proposal"
          style={{ ...at(proposalSpot), ...PROPOSAL_SIZE }}
          data-outcome={proposal.outcome?.outcome}
        >
          <p className="truncate text-[13px] leading-[17px] text-ink-2">Proposed by {person(proposal.by)}</p>
          <p className="line-clamp-2 text-[13px] leading-[17px] font-medium">{proposal.decision}</p>
          <p className="mt-0.5 text-[13px] text-ink-2 tabular-nums">{tally(proposal.votes)}</p>
        </div>
      ) : null}
    </div>
  );
}

const WORKING: ReadonlySet<MemberState> = new Set(["working", "thinking", "tool", "waiting"]);

/** The nearest member in the direction of an arrow key. */
function toward(
  key: string,
  from: string | undefined,
  ids: readonly string[],
  spots: Readonly<Record<string, Spot>>,
): string | undefined {
  if (key === "Home") return ids[0];
  if (key === "End") return ids.at(-1);
  const here = from === undefined ? undefined : spots[from];
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!here || !way) return undefined;
  const [dx = 0, dy = 0] = way;
  let best: { id: string; cost: number } | undefined;
  for (const id of ids) {
    const spot = spots[id];
    if (!spot || id === from) continue;
    const along = (spot.x - here.x) * dx + (spot.y - here.y) * dy;
    const aside = Math.abs((spot.x - here.x) * dy) + Math.abs((spot.y - here.y) * dx);
    if (along > 8 && (!best || along + 2 * aside < best.cost)) best = { id, cost: along + 2 * aside };
  }
  return best?.id;
}

const at = ({ x, y }: Spot): CSSProperties => ({ left: x, top: y });

function Lines({
  lines,
  spots,
  area,
  picked,
  onPick,
}: {
  lines: readonly CrewEdge[];
  spots: Readonly<Record<string, Spot>>;
  area: Size;
  picked: Picked | null;
  onPick: (picked: Picked) => void;
}) {
  const isNow = useRun(({ state }) => state.run.status === "running", false);
  // Routing is slow, and text being streamed doesn't change it.
  const drawn = useMemo(() => routeLines(lines, spots, sizeOf, area), [lines, spots, area]);
  return (
    <>
      <svg aria-hidden className="absolute inset-0" width={area.width} height={area.height}>
        <title>Messages between members</title>
        <defs>
          <marker
            id="crew-arrow"
            viewBox="0 0 8 8"
            refX="6"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M 0 0.8 L 7 4 L 0 7.2 z" fill="context-stroke" />
          </marker>
        </defs>
        {drawn.map(({ key, path, age, latest }) => (
          <path
            key={`${key} ${latest.seq}`}
            d={path}
            className="crew-line"
            data-kind={kindOf(latest)}
            data-lit={age === 0 || undefined}
            data-flows={(age === 0 && isNow) || undefined}
            data-picked={(picked?.kind === "exchange" && picked.seq === latest.seq) || undefined}
            style={{ opacity: age === 0 ? 1 : Math.max(0.45, 0.85 - age * 0.1) }}
            markerEnd="url(#crew-arrow)"
          />
        ))}
      </svg>
      {drawn.map(({ key, labelPosition, label, age, latest, from, to, isCrowded }) => {
        const isPicked = picked?.kind === "exchange" && picked.seq === latest.seq;
        return (
          <button
            key={key}
            type="button"
            className="crew-words"
            data-lit={age === 0 || undefined}
            data-quiet={(isCrowded && !isPicked) || undefined}
            data-kind={kindOf(latest)}
            aria-pressed={isPicked}
            aria-label={`${person(from)} to ${to.startsWith(PROPOSAL) ? "the proposal" : person(to)}: ${label}`}
            title={exchangeText(latest)}
            style={at(labelPosition)}
            onClick={() => onPick({ kind: "exchange", seq: latest.seq })}
          >
            <span>{label}</span>
          </button>
        );
      })}
    </>
  );
}

/** The kind as the style sheet names it; votes by their choice. */
function kindOf(exchange: CrewExchange): string {
  if (exchange.kind === "vote") return exchange.vote.vote;
  if (exchange.kind === "delegation" && exchange.done === "failed") return "failed";
  return exchange.kind;
}

function MemberCard({
  scene,
  agentId,
  roleName,
  isPicked,
  tabIndex,
  onPick,
}: {
  scene: CrewScene;
  agentId: string;
  roleName: string;
  isPicked: boolean;
  tabIndex: number;
  onPick: () => void;
}) {
  const activity = memberActivity(scene, agentId);
  // Compare without case: "Qualityreviewer" is the role QualityReviewer.
  const own = person(agentId);
  const name = isSameWord(own, roleName) ? roleName : own;
  const task = taskOf(scene, agentId);
  return (
    <div
      className="crew-member"
      data-state={activity.state}
      data-picked={isPicked || undefined}
      style={{ width: MEMBER.width, height: MEMBER.height }}
    >
      <button
        type="button"
        data-member={agentId}
        tabIndex={tabIndex}
        aria-pressed={isPicked}
        onClick={onPick}
        className="crew-head"
        title={`${name}, ${roleName}`}
      >
        <MemberFace roleName={roleName} size={32} />
        <span className="flex min-w-0 flex-1 flex-col items-start">
          <span className="flex w-full items-center gap-1">
            <span className="min-w-0 truncate text-sm leading-[18px] font-semibold">{name}</span>
            {memberNamed(scene.crew, "manager") === agentId ? (
              <Crown aria-label="Manager" className="size-3.5 shrink-0 text-accent" />
            ) : null}
            {activity.tainted ? (
              <ShieldAlert aria-label="Read untrusted content" className="size-3.5 shrink-0 text-waiting" />
            ) : null}
          </span>
          {roleName === name ? null : (
            <span className="w-full truncate text-left text-[13px] leading-4 text-ink-2">{roleName}</span>
          )}
        </span>
        <span className="crew-state">
          <StateIcon state={activity.state} />
          <span className="truncate">{activity.text}</span>
        </span>
      </button>
      {task ? (
        <p className="crew-task" title={task}>
          {task}
        </p>
      ) : null}
      <MemberMessage scene={scene} agentId={agentId} />
    </div>
  );
}

/** The face of a role, as recorded in the run. */
const isSameWord = (a: string, b: string) =>
  a.replaceAll(" ", "").toLowerCase() === b.replaceAll(" ", "").toLowerCase();

export function MemberFace({ roleName, size }: { roleName: string; size: number }) {
  const role = useRun<RoleDefinition | undefined>(
    ({ head }) => head.roles.find(({ name }) => name === roleName),
    undefined,
  );
  return (
    <RoleFace
      name={roleName}
      icon={role?.icon}
      color={role?.color}
      size={size}
      className="shrink-0 rounded-[10px]"
    />
  );
}

/** How much streamed text is shown, in characters. */
const WRITING = 84;

/** The message of a member: streamed, or else its last one. */
export function MemberMessage({ scene, agentId }: { scene: CrewScene; agentId: string }) {
  const writing = scene.calls.findLast(
    ({ status, agent_id }) => status === "running" && agent_id === agentId,
  )?.id;
  const live = useRun(({ cursor, live: texts }) => {
    if (cursor !== null || writing === undefined) return "";
    return endOfText(texts[writing]?.content || texts[writing]?.reasoning || "", WRITING);
  }, "");
  const message = live || lastMessage(scene, agentId);
  if (!message) return null;
  return (
    <p className="crew-said" data-live={live ? true : undefined} title={live ? undefined : message}>
      {message}
      {live ? <span aria-hidden className="run-caret" /> : null}
    </p>
  );
}

/** A member's status as an icon, next to its text. */
export function StateIcon({ state }: { state: MemberState }) {
  const Icon = {
    idle: Dot,
    working: Dot,
    thinking: Brain,
    tool: Wrench,
    waiting: Hourglass,
    done: Check,
    passed: Check,
    failed: X,
    stopped: Ban,
  }[state];
  return <Icon aria-hidden className="size-3 shrink-0" />;
}

/** The count of votes as text. */
export function tally(votes: readonly { vote: "approve" | "reject" | "abstain"; round: number }[]): string {
  const last = Math.max(0, ...votes.map(({ round }) => round));
  const count = (vote: string) => votes.filter((one) => one.round === last && one.vote === vote).length;
  return votes.length === 0
    ? "No votes yet"
    : `${count("approve")} for · ${count("reject")} against · ${count("abstain")} abstained`;
}
