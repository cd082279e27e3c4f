"use client";

import clsx from "clsx";
import { Check, CircleHelp, MousePointerClick, Pencil, UsersRound, X } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { formatDuration, formatList, formatTokens } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { ActivationAsks } from "@/components/run/crew/asks";
import { CrewWork } from "@/components/run/crew/crew-work";
import { byDelegation } from "@/components/run/crew/members";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { costInWords } from "@/server/domain/model/cost";
import { findNodeKind } from "@/server/domain/nodes";
import type { Activation, AgentView, ToolCallView } from "@/server/domain/run";
import { AgentTranscript } from "./agent-transcript";
import { NodeActions } from "./control/node-actions";
import { Ticking, useTimeLeft } from "./elapsed";
import { ErrorNote } from "./error-note";
import { AnsweredAsks } from "./past/answered-asks";
import { PlanBoard } from "./plan-board";
import { useRun, useRunActivation, useRunList, useRunNode } from "./run-context";
import { useRunPage } from "./run-page-context";
import { StaleNote } from "./stale-note";
import { ToolCallCard } from "./tool-call-card";
import { KeyValues } from "./values";

/** One node's part in the run: what it got, what it did, what came out. */
export function NodeView({
  nodeId,
  pickedActivation,
  onPickActivation,
}: {
  nodeId: string | null;
  /** Null: the latest one. */
  pickedActivation: string | null;
  onPickActivation: (id: string | null) => void;
}) {
  const node = useRun<WorkflowNode | undefined>(
    ({ head }) => (nodeId ? head.graph.nodes[nodeId] : undefined),
    undefined,
  );
  if (!nodeId || !node)
    return (
      <EmptyState icon={<MousePointerClick />} title="No node is chosen">
        Choose a node in the drawing to see what went in, what happened and what came out.
      </EmptyState>
    );
  return (
    <NodeDetail
      key={nodeId}
      node={node}
      pickedActivation={pickedActivation}
      onPickActivation={onPickActivation}
    />
  );
}

function NodeDetail({
  node,
  pickedActivation,
  onPickActivation,
}: {
  node: WorkflowNode;
  pickedActivation: string | null;
  onPickActivation: (id: string | null) => void;
}) {
  const kind = findNodeKind(node.node_type);
  const seen = useRunNode(node.id);
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const ids = useRunList<string>(({ state }) =>
    Array.from({ length: state.nodes[node.id]?.count ?? 0 }, (_, at) => `${node.id}#${at + 1}`),
  );
  const shown = pickedActivation && ids.includes(pickedActivation) ? pickedActivation : ids.at(-1);
  const activation = useRunActivation(shown);
  const workflowId = useRun<string | null>(({ state }) => state.run.workflow_id, null);
  return (
    <article aria-label={`${node.name || node.id} in this run`} className="flex flex-col gap-5 p-4">
      <header className="flex flex-col gap-2">
        <div className="flex items-center gap-2">
          <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{node.name || node.id}</h2>
          <StatusMark status={activation?.status ?? seen?.status ?? "idle"} withWord isPast={isPast} />
        </div>
        <p className="flex items-center gap-2 text-[13px] text-ink-2">
          <span className="min-w-0 flex-1 truncate">
            {kind ? `${kind.title}: ${kind.summary(node.config, node)}` : node.node_type}
          </span>
          {workflowId ? (
            <Link
              href={`/workflows/${workflowId}?node=${encodeURIComponent(node.id)}`}
              className="inline-flex shrink-0 items-center gap-1 text-xs text-ink-3 hover:text-accent"
            >
              <Pencil aria-hidden className="size-3" />
              Edit
            </Link>
          ) : null}
        </p>
        {ids.length > 1 ? (
          <ActivationPicker
            ids={ids}
            shown={shown}
            isLatest={pickedActivation === null}
            onPick={onPickActivation}
          />
        ) : null}
      </header>
      <NodeActions node={node} activationId={shown} />
      <StaleNote nodeId={node.id} />
      {activation ? (
        <ActivationDetail node={node} activation={activation} />
      ) : (
        <p className="text-[13px] text-ink-2">
          {seen?.status === "skipped"
            ? "This node was skipped: nothing leads to it any more."
            : "The run has not come here."}
        </p>
      )}
    </article>
  );
}

const MANY = 12;

/** 1 2 3 …: how often the node ran; the last one is followed until another is picked. */
function ActivationPicker({
  ids,
  shown,
  isLatest,
  onPick,
}: {
  ids: readonly string[];
  shown: string | undefined;
  isLatest: boolean;
  onPick: (id: string | null) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const first = isWhole || ids.length <= MANY ? 0 : ids.length - MANY;
  return (
    <div role="radiogroup" aria-label="Which time it ran" className="flex flex-wrap items-center gap-1">
      {first > 0 ? (
        <button
          type="button"
          className={clsx(chip, "border-line text-ink-2")}
          onClick={() => setWhole(true)}
          aria-label="Show all times"
        >
          1…{first}
        </button>
      ) : null}
      {ids.slice(first).map((id, at) => (
        <TurnChip
          key={id}
          id={id}
          turn={first + at + 1}
          isShown={id === shown}
          onPick={() => onPick(id === ids.at(-1) ? null : id)}
        />
      ))}
      {isLatest ? null : (
        <button
          type="button"
          onClick={() => onPick(null)}
          className="ml-1 text-xs font-medium text-accent hover:text-accent-hover"
        >
          Latest
        </button>
      )}
    </div>
  );
}

const chip =
  "inline-flex h-7 min-w-7 items-center justify-center gap-1 rounded-md border px-1.5 text-xs tabular-nums pointer-coarse:h-9 pointer-coarse:min-w-9";

function TurnChip({
  id,
  turn,
  isShown,
  onPick,
}: {
  id: string;
  turn: number;
  isShown: boolean;
  onPick: () => void;
}) {
  const status = useRun(({ state }) => state.activations[id]?.status ?? "idle", "idle" as const);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of small buttons, one of them on
    <button
      type="button"
      role="radio"
      aria-checked={isShown}
      aria-label={`Time ${turn}`}
      onClick={onPick}
      className={clsx(
        chip,
        isShown ? "border-accent bg-accent-soft text-ink" : "border-line text-ink-2 hover:border-line-strong",
      )}
    >
      {turn}
      {status === "completed" ? null : <StatusMark status={status} size="sm" className="scale-75" />}
    </button>
  );
}

function ActivationDetail({ node, activation }: { node: WorkflowNode; activation: Activation }) {
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
        <Waiting activation={activation} />
      ) : null}
      {isCrew ? <CrewDoor nodeId={node.id} /> : null}
      {activation.decided ? <Decision activation={activation} /> : null}
      {hasPlan ? <PlanBoard activationId={activation.id} /> : null}
      {own.length > 1 ? (
        <Part title={hasPlan ? "Beside the plan" : "Work"}>
          <CrewWork keys={own} />
        </Part>
      ) : (
        own.map((key) => <AgentPart key={key} agentKey={key} />)
      )}
      {direct.length > 0 ? (
        <Part title="Tools">
          {direct.map((call) => (
            <ToolCallCard key={call.id} call={call} />
          ))}
        </Part>
      ) : null}
      {activation.output && Object.keys(activation.output).length > 0 ? (
        <Part title="Output">
          <KeyValues values={activation.output} label={`output of ${node.name || node.id}`} />
        </Part>
      ) : null}
      {activation.input ? (
        <Part title="Input">
          <KeyValues
            values={activation.input}
            label={`input of ${node.name || node.id}`}
            empty="It reads nothing."
          />
        </Part>
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

/** A titled part of the panel. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-ink-2">{title}</h3>
      {children}
    </section>
  );
}

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
      {calls.length > 0 ? <Fact name="Cost">{costInWords(activation)}</Fact> : null}
      {attempt > 1 ? <Fact name="Attempts">{attempt}</Fact> : null}
      {activation.iteration !== undefined && activation.iteration > 1 ? (
        <Fact name="Round">{activation.iteration}</Fact>
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
  timer: "It waits for its time to come.",
  signal: "It waits for a signal.",
  human: "It waits for a person.",
  limit: "It waits at a limit; raise the limit to go on.",
  retry: "It failed and waits before it is tried again.",
};

function Waiting({ activation }: { activation: Activation }) {
  const waiting = activation.waiting;
  const isHeld = (useRunPage()?.held ?? null) !== null;
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (!waiting) return null;
  return (
    <p className="rounded-lg border border-waiting/35 bg-waiting/8 px-3 py-2 text-[13px]">
      {WAITS[waiting.for] ?? `It waits for ${waiting.for}.`}
      {isHeld ? " The run is held, so it does not go on by itself." : null}
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

function Decision({ activation }: { activation: Activation }) {
  const { decided } = activation;
  if (!decided) return null;
  const how: Record<string, string> = {
    function: "A named rule decided.",
    expression: "Conditions decided, tried from the top.",
    value: "A value decided.",
    llm: "A model decided.",
  };
  return (
    <Part title="Decision">
      <p className="text-[13px]">
        {decided.labels.length > 0 ? (
          <>
            Took <strong className="font-semibold">{formatList(decided.labels)}</strong>.{" "}
          </>
        ) : (
          "Found no way to go on. "
        )}
        <span className="text-ink-2">{how[decided.kind] ?? ""}</span>
      </p>
      {decided.reason ? (
        <blockquote className="border-l-2 border-line-strong pl-3 text-[13px] text-ink-2">
          {decided.reason}
          {decided.confidence !== undefined && decided.confidence !== null ? (
            <span className="ml-2 text-xs text-ink-3 tabular-nums">
              sure to {Math.round(decided.confidence * 100)} %
            </span>
          ) : null}
        </blockquote>
      ) : null}
      {decided.evaluations && decided.evaluations.length > 0 ? (
        <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
          {decided.evaluations.map(({ label, when, value, note }) => (
            <li key={`${label} ${when}`} className="flex items-start gap-2.5 px-3 py-2 text-[13px]">
              {note ? (
                <CircleHelp
                  aria-label="Could not be decided"
                  className="mt-0.5 size-4 shrink-0 text-waiting"
                />
              ) : value ? (
                <Check aria-label="Holds" className="mt-0.5 size-4 shrink-0 text-completed" />
              ) : (
                <X aria-label="Does not hold" className="mt-0.5 size-4 shrink-0 text-ink-3" />
              )}
              <span className="min-w-0 flex-1">
                <span className={clsx(value ? "font-medium text-ink" : "text-ink-2")}>{label}</span>
                <code className="mt-0.5 block font-mono text-xs text-ink-3 [overflow-wrap:anywhere]">
                  {when}
                </code>
                {note ? <span className="mt-0.5 block text-xs text-ink-2">{note}</span> : null}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </Part>
  );
}

function AgentPart({ agentKey }: { agentKey: string }) {
  const agent = useRun<AgentView | undefined>(({ state }) => state.agents[agentKey], undefined);
  if (!agent) return null;
  return (
    <Part title={agent.role_name ? `Agent: ${agent.role_name}` : "Agent"}>
      <AgentTranscript agentKey={agentKey} />
    </Part>
  );
}
