"use client";

import { UsersRound } from "lucide-react";
import { ActivationAsks } from "@/components/run/crew/asks";
import { CrewWork } from "@/components/run/crew/crew-work";
import { byDelegation } from "@/components/run/crew/members";
import { Button } from "@/components/ui/button";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { Activation, AgentView, ToolCallView } from "@/server/domain/run";
import { AnsweredAsks } from "../past/answered-asks";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { KeyValues } from "../values";
import { ViewPart } from "../view-part";
import { ActivationFacts, ActivationWaiting } from "./activation-facts";
import { AgentTranscript } from "./agent-transcript";
import { ErrorNote } from "./error-note";
import { PlanBoard } from "./plan-board";
import { RouterDecision } from "./router-decision";
import { ToolCallCard } from "./tool-call-card";

/** One time a node ran: what it waits for, what was done, what came out and what went in. */
export function ActivationDetail({ node, activation }: { node: WorkflowNode; activation: Activation }) {
  const kind = getNodeKind(node.node_type);
  const agents = useRunList<string>(({ state }) =>
    byDelegation(Object.values(state.agents).filter((agent) => agent.activation_id === activation.id)).map(
      ({ key }) => key,
    ),
  );
  const hasPlan = useRun(({ state }) => state.plans[activation.id] !== undefined, false);
  // With a plan, the board shows each task's agents; only those without a task (a planner) stand here.
  const own = useRunList<string>(({ state }) =>
    agents.filter((key) => !hasPlan || state.agents[key]?.task_id === undefined),
  );
  const isCrew = useRun(({ state }) => state.crews[activation.id] !== undefined, false);
  // A node may call a tool itself, without any agent.
  const direct = useRunList<ToolCallView>(({ state }) =>
    Object.values(state.tool_calls).filter(
      (call) => call.activation_id === activation.id && call.agent_id === undefined,
    ),
  );
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
      {activation.output && Object.keys(activation.output).length > 0 ? (
        <ViewPart title="Output">
          <KeyValues values={activation.output} label={`output of ${node.name || node.id}`} />
        </ViewPart>
      ) : null}
      {activation.decided ? <RouterDecision activation={activation} /> : null}
      {hasPlan ? <PlanBoard activationId={activation.id} /> : null}
      {own.length > 1 ? (
        <ViewPart title={hasPlan ? "Beside the plan" : "Work"}>
          <CrewWork keys={own} />
        </ViewPart>
      ) : (
        own.map((key) => <AgentPart key={key} agentKey={key} />)
      )}
      {direct.length > 0 ? (
        <ViewPart title="Tools">
          {direct.map((call) => (
            <ToolCallCard key={call.id} call={call} />
          ))}
        </ViewPart>
      ) : null}
      {activation.input ? (
        <ViewPart title="Input">
          <KeyValues
            values={activation.input}
            label={`input of ${node.name || node.id}`}
            empty={kind.ends || kind.routes ? "What it takes from the state" : "It reads nothing."}
          />
        </ViewPart>
      ) : null}
    </>
  );
}

function CrewDoor({ nodeId }: { nodeId: string }) {
  const page = useRunPage();
  return page ? (
    <Button icon={<UsersRound aria-hidden />} className="self-start" onClick={() => page.openCrew(nodeId)}>
      Open the crew
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
