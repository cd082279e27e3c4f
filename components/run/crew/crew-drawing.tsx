"use client";

import { Ban, Brain, Check, Crown, Dot, Hourglass, ShieldAlert, UserRound, Wrench, X } from "lucide-react";
import { type CSSProperties, useLayoutEffect, useRef, useState } from "react";
import { RoleFace } from "@/components/display/role-face";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/sentences";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { present } from "@/server/domain/base/must";
import type { CrewExchange } from "@/server/domain/run";
import {
  bow,
  type CrewLine,
  cardSize,
  layersOf,
  linesOf,
  memberNamed,
  PROPOSAL,
  placeCrew,
  proposalSize,
  REQUESTER,
  REQUESTER_SIZE,
  routeLines,
  type Size,
  type Spot,
  saidIn,
  wordsOf,
} from "./drawing";
import { type CrewScene, type MemberState, memberLook } from "./members";

/** What a person looks at more closely. */
export type Picked = { kind: "member"; id: string } | { kind: "exchange"; seq: number };

/** How many lines carry their words; older ones are quiet and show theirs when pointed at. */
const WORDED = 3;

/** Everyone in the crew, what each is doing, and what goes from one to another; the newest line is lit. */
export function CrewDrawing({
  scene,
  picked,
  onPick,
}: {
  scene: CrewScene;
  picked: Picked | null;
  onPick: (picked: Picked | null) => void;
}) {
  const [box, area] = useArea();
  const { crew, plan } = scene;
  const card = cardSize(area?.width ?? 0);
  const proposal = Object.values(crew.proposals).at(-1);
  // Where the last word always goes to the requester, it stands there from the beginning: nobody moves later.
  const hasRequester =
    crew.process === "hierarchical" ||
    crew.process === "custom" ||
    crew.exchanges.some((one) => {
      const { from, to } = saidIn(one);
      return memberNamed(crew, from) === REQUESTER || memberNamed(crew, to) === REQUESTER;
    });
  const spots = area
    ? placeCrew(
        {
          process: crew.process,
          manager: crew.manager,
          members: crew.members.map(({ agent_id }) => agent_id),
          layers: layersOf(crew, plan),
          hasRequester,
          proposal: proposal?.id,
        },
        area,
        card,
      )
    : {};
  return (
    <div ref={box} className="crew-drawing relative size-full min-h-80 overflow-hidden">
      {area ? (
        <>
          <Lines
            lines={linesOf(crew)}
            spots={spots}
            card={card}
            area={area}
            picked={picked}
            onPick={onPick}
          />
          {crew.members.map(({ agent_id, role_name }) => {
            const spot = spots[agent_id];
            return spot ? (
              <MemberCard
                key={agent_id}
                scene={scene}
                agentId={agent_id}
                roleName={role_name}
                spot={spot}
                card={card}
                isPicked={picked?.kind === "member" && picked.id === agent_id}
                onPick={() => onPick({ kind: "member", id: agent_id })}
              />
            ) : null;
          })}
          {spots[REQUESTER] ? (
            <p className="crew-pill" style={at(spots[REQUESTER])}>
              <UserRound aria-hidden />
              Requester
            </p>
          ) : null}
          {proposal ? (
            <Proposes
              from={spots[memberNamed(crew, proposal.by) ?? ""]}
              to={spots[PROPOSAL + proposal.id]}
              card={card}
              area={area}
              hasVotes={proposal.votes.length > 0}
            />
          ) : null}
          {proposal && spots[PROPOSAL + proposal.id] ? (
            <div
              className="crew-proposal"
              style={{
                ...at(present(spots[PROPOSAL + proposal.id], "spots[PROPOSAL + proposal.id]")),
                width: proposalSize(card).width,
              }}
              data-outcome={proposal.outcome?.outcome}
            >
              <p className="line-clamp-2 text-[13px] font-medium">{proposal.decision}</p>
              <p className="mt-0.5 text-[11px] text-ink-2 tabular-nums">{tally(proposal.votes)}</p>
            </div>
          ) : null}
        </>
      ) : null}
    </div>
  );
}

/** The size of the place that there is, once it is known. */
function useArea() {
  const box = useRef<HTMLDivElement>(null);
  const [area, setArea] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const next = { width: element.clientWidth, height: element.clientHeight };
      setArea((old) => (old?.width === next.width && old.height === next.height ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, area] as const;
}

const at = ({ x, y }: Spot): CSSProperties => ({ left: x, top: y });

function Lines({
  lines,
  spots,
  card,
  area,
  picked,
  onPick,
}: {
  lines: readonly CrewLine[];
  spots: Readonly<Record<string, Spot>>;
  card: Size;
  area: Size;
  picked: Picked | null;
  onPick: (picked: Picked) => void;
}) {
  const isNow = useRun(({ state }) => state.run.status === "running", false);
  const drawn = routeLines(lines, spots, (id) => sizeOf(id, card), area);
  return (
    <>
      <svg aria-hidden className="absolute inset-0" width={area.width} height={area.height}>
        <title>Who says something to whom</title>
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
            style={{ opacity: age === 0 ? 1 : Math.max(0.28, 0.8 - age * 0.13) }}
            markerEnd="url(#crew-arrow)"
          />
        ))}
      </svg>
      {drawn.map(({ key, words, label, age, latest, from, to }) => {
        const isPicked = picked?.kind === "exchange" && picked.seq === latest.seq;
        return (
          <button
            key={key}
            type="button"
            className="crew-words"
            data-lit={age === 0 || undefined}
            data-quiet={(age >= WORDED && !isPicked) || undefined}
            data-kind={kindOf(latest)}
            aria-pressed={isPicked}
            aria-label={`${person(from)} to ${to.startsWith(PROPOSAL) ? "the proposal" : person(to)}: ${label}`}
            title={wordsOf(latest)}
            style={at(words)}
            onClick={() => onPick({ kind: "exchange", seq: latest.seq })}
          >
            <span>{label}</span>
          </button>
        );
      })}
    </>
  );
}

/** Whose proposal it is. */
function Proposes({
  from,
  to,
  card,
  area,
  hasVotes,
}: {
  from: Spot | undefined;
  to: Spot | undefined;
  card: Size;
  area: Size;
  hasVotes: boolean;
}) {
  if (!from || !to) return null;
  // To the other side than the vote of whoever proposed it.
  const { path, words } = bow({ ...from, ...card }, { ...to, ...sizeOf(PROPOSAL, card) }, -36, 0.6);
  return (
    <>
      <svg
        aria-hidden
        className="pointer-events-none absolute inset-0"
        width={area.width}
        height={area.height}
      >
        <title>Who proposes it</title>
        <path d={path} className="crew-line" data-kind="proposes" markerEnd="url(#crew-arrow)" />
      </svg>
      {/* The words of votes need the room. */}
      {hasVotes ? null : (
        <span className="crew-words" style={at(words)}>
          proposes
        </span>
      )}
    </>
  );
}

function sizeOf(id: string, card: Size): Size {
  if (id === REQUESTER) return REQUESTER_SIZE;
  return id.startsWith(PROPOSAL) ? proposalSize(card) : card;
}

/** The kind as the style sheet knows it: votes by what they say. */
function kindOf(exchange: CrewExchange): string {
  if (exchange.kind === "vote") return exchange.vote.vote;
  if (exchange.kind === "delegation" && exchange.done === "failed") return "failed";
  return exchange.kind;
}

function MemberCard({
  scene,
  agentId,
  roleName,
  spot,
  card,
  isPicked,
  onPick,
}: {
  scene: CrewScene;
  agentId: string;
  roleName: string;
  spot: Spot;
  card: Size;
  isPicked: boolean;
  onPick: () => void;
}) {
  const role = useRun<RoleDefinition | undefined>(
    ({ head }) => head.roles.find(({ name }) => name === roleName),
    undefined,
  );
  const look = memberLook(scene, agentId);
  const isManager = memberNamed(scene.crew, "manager") === agentId;
  return (
    <button
      type="button"
      onClick={onPick}
      aria-pressed={isPicked}
      className="crew-member"
      data-state={look.state}
      style={{ ...at(spot), width: card.width, height: card.height }}
      title={`${person(agentId)}, ${roleName}`}
    >
      {card.width > 140 ? (
        <RoleFace
          name={roleName}
          icon={role?.icon}
          color={role?.color}
          size={34}
          className="rounded-[10px]"
        />
      ) : null}
      <span className="flex min-w-0 flex-1 flex-col items-start gap-px">
        <span className="flex w-full items-center gap-1">
          <span className="min-w-0 truncate text-[13px] font-semibold leading-[18px]">{person(agentId)}</span>
          {isManager ? <Crown aria-label="Manager" className="size-3.5 shrink-0 text-accent" /> : null}
          {look.tainted ? (
            <ShieldAlert aria-label="Read content from outside" className="size-3.5 shrink-0 text-waiting" />
          ) : null}
        </span>
        <span className="crew-state">
          <StateIcon state={look.state} />
          <span className="truncate">{look.text}</span>
        </span>
      </span>
    </button>
  );
}

/** A member's state as a small picture; the words stand beside it. */
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

/** Votes counted in words. */
export function tally(votes: readonly { vote: "approve" | "reject" | "abstain"; round: number }[]): string {
  const last = Math.max(0, ...votes.map(({ round }) => round));
  const count = (vote: string) => votes.filter((one) => one.round === last && one.vote === vote).length;
  return votes.length === 0
    ? "No votes yet"
    : `${count("approve")} for · ${count("reject")} against · ${count("abstain")} abstained`;
}
