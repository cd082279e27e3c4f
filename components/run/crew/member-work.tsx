"use client";

import { AgentTranscript } from "@/components/run/node/agent-transcript";
import { person } from "@/components/run/timeline/sentence-parts";
import { TextBlock, ValueView } from "@/components/run/values";
import type { CrewExchange } from "@/server/domain/run";
import { MemberFace, StateIcon } from "./crew-drawing";
import { exchangeText } from "./crew-edges";
import { WorkRows } from "./crew-work";
import { byDelegation, type CrewScene, memberActivity } from "./members";

/** The name, role and activity of a member. */
export function MemberTitle({
  scene,
  agentId,
  roleName,
}: {
  scene: CrewScene;
  agentId: string;
  roleName: string;
}) {
  const activity = memberActivity(scene, agentId);
  return (
    <div className="flex items-center gap-2.5">
      <MemberFace roleName={roleName} size={36} />
      <div className="min-w-0">
        <h3 className="truncate text-sm font-semibold">{person(agentId)}</h3>
        <p className="flex items-center gap-1.5 text-[13px] text-ink-2">
          <span className="truncate">{roleName}</span>
          <span aria-hidden className="text-ink-3">
            ·
          </span>
          <StateIcon state={activity.state} />
          <span className="shrink-0">{activity.text}</span>
        </p>
      </div>
    </div>
  );
}

/** All that one member did: a conversation for each of its tasks, the newest open. */
export function MemberWork({
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
          Tools:
          {newest.tools.map((tool) => (
            <code key={tool} className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[11px] text-ink-2">
              {tool}
            </code>
          ))}
        </p>
      ) : null}
      {mine.length === 0 ? <p className="text-[13px] text-ink-3">No work yet.</p> : null}
      {mine.length === 1 && newest ? (
        <AgentTranscript agentKey={newest.key} />
      ) : mine.length > 1 ? (
        <WorkRows keys={mine.map(({ key }) => key)} isByTask />
      ) : null}
    </>
  );
}

/** A message in full, with its result. */
export function ExchangeText({ exchange }: { exchange: CrewExchange }) {
  return (
    <>
      <TextBlock text={exchangeText(exchange)} label="message" />
      {exchange.kind === "handoff" && exchange.handoff.context ? (
        <div>
          <p className="mb-1 text-xs text-ink-3">Handoff context</p>
          <ValueView value={exchange.handoff.context} label="handoff context" />
        </div>
      ) : null}
      {exchange.kind === "delegation" ? (
        <p className="text-xs text-ink-3">
          {exchange.done === "completed"
            ? "Completed and returned."
            : exchange.done === "failed"
              ? "Failed."
              : exchange.done === "stopped"
                ? "Stopped: the result was no longer needed."
                : "In progress."}
        </p>
      ) : null}
      {exchange.kind === "vote" && exchange.vote.confidence !== null ? (
        <p className="text-xs text-ink-3 tabular-nums">
          Confidence: {Math.round(exchange.vote.confidence * 100)}%
        </p>
      ) : null}
    </>
  );
}
