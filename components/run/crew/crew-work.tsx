"use client";

import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { formatDuration } from "@/components/display/format";
import { oneLine, withoutDemoMark } from "@/components/display/one-line";
import { StatusMark } from "@/components/display/status-mark";
import { AgentTranscript } from "@/components/run/node/agent-transcript";
import { useRun, useRunList } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { Disclosure } from "@/components/ui/disclosure";
import type { AgentView, ModelCall, NodeStatus, RunState } from "@/server/domain/run";

/** The agents' work by round, newest first; work outside of rounds comes last, in one group. */
export function byRound(
  agents: readonly Pick<AgentView, "key" | "round">[],
): { round: number; keys: string[] }[] {
  const groups = new Map<number, string[]>();
  for (const { key, round = 0 } of agents) groups.set(round, [...(groups.get(round) ?? []), key]);
  return [...groups].map(([round, keys]) => ({ round, keys })).toSorted((a, b) => b.round - a.round);
}

/** The work of several agents in a node, by round if there are any, each task with its result. */
export function CrewWork({ keys }: { keys: readonly string[] }) {
  const agents = useRunList<AgentView>(({ state }) => keys.flatMap((key) => state.agents[key] ?? []));
  const rounds = byRound(agents);
  if (rounds.length < 2) return <WorkRows keys={keys} />;
  return (
    <div className="flex flex-col gap-1">
      {rounds.map(({ round, keys: mine }, at) => (
        <Disclosure
          key={round}
          title={round > 0 ? `Round ${round}` : "Outside rounds"}
          aside={namesOf(agents.filter(({ key }) => mine.includes(key)))}
          isOpen={at === 0}
        >
          <WorkRows keys={mine} />
        </Disclosure>
      ))}
    </div>
  );
}

const namesOf = (agents: readonly AgentView[]) =>
  [...new Set(agents.map(({ agent_id }) => person(agent_id)))].join(", ");

/** A list of work items. `isByTask`: all by one agent, so its name is left out. */
export function WorkRows({ keys, isByTask = false }: { keys: readonly string[]; isByTask?: boolean }) {
  return (
    <ul aria-label="Work" className="flex flex-col divide-y divide-line rounded-lg border border-line">
      {keys.map((key) => (
        <li key={key}>
          <WorkRow agentKey={key} isByTask={isByTask} isNewest={isByTask && key === keys.at(-1)} />
        </li>
      ))}
    </ul>
  );
}

const MARKS: Record<AgentView["status"], NodeStatus> = {
  running: "running",
  completed: "completed",
  failed: "failed",
  rejected: "failed",
  handed_off: "completed",
  stopped: "cancelled",
};

/** A work item in two lines: agent, task and result; expanded, the whole conversation. */
function WorkRow({
  agentKey,
  isByTask,
  isNewest,
}: {
  agentKey: string;
  isByTask: boolean;
  isNewest: boolean;
}) {
  const agent = useRun<AgentView | undefined>(({ state }) => state.agents[agentKey], undefined);
  const call = useRun<ModelCall | undefined>(({ state }) => lastAnswer(state, agentKey), undefined);
  const task = useRun(({ state }) => taskTitle(state, agentKey), "");
  const [isOpen, setOpen] = useState(isNewest);
  const reply = useMemo(() => (call ? withoutDemoMark(oneLine(call.content)).slice(0, 200) : ""), [call]);
  if (!agent) return null;
  const outcome = agent.error?.message ?? (reply || OUTCOMES[agent.status]);
  const name = person(agent.agent_id);
  return (
    <details
      // Running work can be watched; of one agent's work, the newest.
      open={agent.status === "running" || isNewest}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      style={{ paddingLeft: agent.delegate_level * 12 }}
    >
      <summary className="flex cursor-pointer list-none items-start gap-2 rounded-lg px-2.5 py-2 text-[13px] hover:bg-ink/4 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="mt-0.5 size-3.5 shrink-0 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
        />
        <StatusMark status={MARKS[agent.status]} size="sm" className="mt-px" />
        <span className="min-w-0 flex-1">
          <span className="flex gap-1.5">
            {isByTask && task ? null : <span className="shrink-0 font-medium">{name}</span>}
            <span className="min-w-0 truncate text-ink-2">{task}</span>
          </span>
          <span className="line-clamp-1 text-ink-2 [overflow-wrap:anywhere] [details[open]>summary_&]:hidden">
            {outcome}
          </span>
        </span>
        {agent.finished_at === undefined ? null : (
          <span className="shrink-0 text-xs text-ink-3 tabular-nums">
            {formatDuration(agent.finished_at - agent.started_at)}
          </span>
        )}
      </summary>
      {isOpen ? (
        <div className="px-2.5 pb-3">
          <AgentTranscript agentKey={agentKey} />
        </div>
      ) : null}
    </details>
  );
}

/** Shown instead of the result of work without output. */
const OUTCOMES: Record<AgentView["status"], string> = {
  running: "In progress",
  completed: "Done",
  failed: "Failed",
  rejected: "Rejected the task",
  handed_off: "Handed off",
  stopped: "Stopped: no longer needed",
};

/** The last non-empty answer of the model in a work item. */
function lastAnswer({ agents, activations, calls }: RunState, key: string): ModelCall | undefined {
  const agent = agents[key];
  const ids = agent ? (activations[agent.activation_id]?.calls ?? []) : [];
  for (let at = ids.length - 1; at >= 0; at--) {
    const call = calls[ids[at] ?? ""];
    if (
      call?.agent_id === agent?.agent_id &&
      call?.task_id === agent?.task_id &&
      call?.status === "completed" &&
      call.content !== ""
    )
      return call;
  }
  return undefined;
}

/** The title of a work item: its task, or else from its id, such as "Ballot 2". */
function taskTitle({ agents, plans }: RunState, key: string): string {
  const agent = agents[key];
  if (!agent?.task_id) return "";
  const planned = plans[agent.activation_id]?.tasks.find(({ task_id }) => task_id === agent.task_id);
  if (planned) return withoutDemoMark(oneLine(planned.description));
  const label = agent.task_id.replace(/[-_]+/g, " ");
  return label.charAt(0).toUpperCase() + label.slice(1);
}
