"use client";

import { UsersRound } from "lucide-react";
import type { ReactNode } from "react";
import { formatDuration, formatTokens } from "@/components/display/format";
import { CrewWork } from "@/components/run/crew/crew-work";
import { byDelegation } from "@/components/run/crew/members";
import { ActivationAsks } from "@/components/run/questions/asks";
import { Button } from "@/components/ui/button";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { formatCost } from "@/server/domain/model/cost";
import { getNodeKind } from "@/server/domain/nodes";
import type { Activation, AgentView, ToolCallView } from "@/server/domain/run";
import { ChildItems } from "../children/child-items";
import { Ticking, useTimeLeft } from "../live/elapsed";
import { AnsweredAsks } from "../questions/answered-asks";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { KeyValues } from "../values";
import { ViewPart } from "../view-part";
import { AgentTranscript } from "./agent-transcript";
import { ErrorNote } from "./error-note";
import { PlanBoard } from "./plan-board";
import { RouterDecision } from "./router-decision";
import { ToolCallCard } from "./tool-call-card";

/** Duration and cost, as of the cursor. */
function ActivationFacts({ activation }: { activation: Activation }) {
  const { usage, started_at, finished_at, attempt, calls } = activation;
  const cursorTime = useRun<number | null>(
    ({ cursor, events }) => (cursor === null ? null : (events[cursor - 1]?.ts ?? null)),
    null,
  );
  const until = finished_at ?? cursorTime;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <dl className="grid grid-cols-[repeat(auto-fit,minmax(5.5rem,1fr))] gap-x-4 gap-y-2 text-[13px] tabular-nums">
      <Fact name="Duration">
        {started_at === undefined ? (
          "–"
        ) : until !== null ? (
          formatDuration(until - started_at)
        ) : (
          <Ticking from={started_at} />
        )}
      </Fact>
      {calls.length > 0 ? (
        <Fact name="Tokens">
          <span title={`${formatTokens(usage.input_tokens)} in, ${formatTokens(usage.output_tokens)} out`}>
            {formatTokens(tokens)}
            {usage.estimated ? " (est.)" : ""}
          </span>
        </Fact>
      ) : null}
      {calls.length > 0 ? <Fact name="Cost">{formatCost(activation)}</Fact> : null}
      {attempt > 1 ? <Fact name="Attempts">{attempt}</Fact> : null}
      {activation.iteration !== undefined && activation.iteration > 1 ? (
        <Fact name="Iteration">{activation.iteration}</Fact>
      ) : null}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="truncate font-medium">{children}</dd>
    </div>
  );
}

const WAITS: Record<string, string> = {
  timer: "Waiting for a timer.",
  signal: "Waiting for a signal.",
  human: "Waiting for a person.",
  limit: "Waiting at a limit. Raise the limit to continue.",
  retry: "Failed. Waiting to retry.",
  run: "Waiting for another run.",
};

function ActivationWaiting({ activation }: { activation: Activation }) {
  const waiting = activation.waiting;
  const isHeld = (useRunPage()?.held ?? null) !== null;
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (!waiting) return null;
  return (
    <p className="rounded-lg border border-waiting/35 bg-waiting/8 px-3 py-2 text-[13px]">
      {WAITS[waiting.for] ?? `Waiting for ${waiting.for}.`}
      {isHeld ? " The run is quarantined. Retry or cancel it." : null}
      {waiting.until === undefined || isHeld || isPast ? null : <TimeLeft until={waiting.until} />}
    </p>
  );
}

function TimeLeft({ until }: { until: number }) {
  const left = useTimeLeft(until);
  const at = new Date(until).toLocaleTimeString("en-GB", { hour12: false });
  return (
    <span className="tabular-nums">{left === null ? ` Until ${at}.` : ` ${left} left, until ${at}.`}</span>
  );
}

/** One execution of a node: what it waits for, its work, output and input. */
export function ActivationDetail({ node, activation }: { node: WorkflowNode; activation: Activation }) {
  const kind = getNodeKind(node.node_type);
  const hasPlan = useRun(({ state }) => state.plans[activation.id] !== undefined, false);
  const isCrew = useRun(({ state }) => state.crews[activation.id] !== undefined, false);
  return (
    <>
      <ActivationFacts activation={activation} />
      {activation.error ? <ErrorNote error={activation.error} /> : null}
      <ActivationAsks activationId={activation.id} />
      <AnsweredAsks activationId={activation.id} />
      {activation.status === "waiting" && activation.waiting?.for !== "human" ? (
        <ActivationWaiting activation={activation} />
      ) : null}
      {isCrew ? <CrewDoor nodeId={node.id} /> : null}
      {activation.children ? <ChildItems activation={activation} counts={activation.children} /> : null}
      {activation.output && Object.keys(activation.output).length > 0 ? (
        <ViewPart title="Output">
          <KeyValues values={activation.output} label={`output of ${node.name || node.id}`} />
        </ViewPart>
      ) : null}
      {activation.decided ? <RouterDecision activation={activation} /> : null}
      {hasPlan ? <PlanBoard activationId={activation.id} /> : null}
      <AgentsWork activationId={activation.id} hasPlan={hasPlan} />
      <DirectCalls activationId={activation.id} />
      {activation.input ? (
        <ViewPart title="Input">
          <KeyValues
            values={activation.input}
            label={`input of ${node.name || node.id}`}
            empty={kind.ends || kind.routes ? "Reads from the state" : "No input"}
          />
        </ViewPart>
      ) : null}
    </>
  );
}

/** The agents that took part. With a plan, its board shows the others: only those without a task, such as a planner. */
function AgentsWork({ activationId, hasPlan }: { activationId: string; hasPlan: boolean }) {
  const keys = useRunList<string>(({ state }) => {
    const agents = Object.values(state.agents).filter((agent) => agent.activation_id === activationId);
    return byDelegation(agents)
      .filter(({ task_id }) => !hasPlan || task_id === undefined)
      .map(({ key }) => key);
  });
  if (keys.length <= 1) return keys.map((key) => <AgentPart key={key} agentKey={key} />);
  return (
    <ViewPart title={hasPlan ? "Outside the plan" : "Work"}>
      <CrewWork keys={keys} />
    </ViewPart>
  );
}

/** The tools that the node called itself, without an agent. */
function DirectCalls({ activationId }: { activationId: string }) {
  const calls = useRunList<ToolCallView>(({ state }) =>
    Object.values(state.tool_calls).filter(
      (call) => call.activation_id === activationId && call.agent_id === undefined,
    ),
  );
  return calls.length > 0 ? (
    <ViewPart title="Tools">
      {calls.map((call) => (
        <ToolCallCard key={call.id} call={call} />
      ))}
    </ViewPart>
  ) : null;
}

function CrewDoor({ nodeId }: { nodeId: string }) {
  const page = useRunPage();
  return page ? (
    <Button icon={<UsersRound aria-hidden />} className="self-start" onClick={() => page.openCrew(nodeId)}>
      Open crew
    </Button>
  ) : null;
}

function AgentPart({ agentKey }: { agentKey: string }) {
  const agent = useRun<AgentView | undefined>(({ state }) => state.agents[agentKey], undefined);
  if (!agent) return null;
  return (
    <ViewPart title={agent.role_name ? `Agent: ${agent.role_name}` : "Agent"}>
      <AgentTranscript agentKey={agentKey} />
    </ViewPart>
  );
}
