"use client";

import clsx from "clsx";
import { PencilLine, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import type { ExecutionPlan, Task, TaskStatus } from "@/server/domain/crew/plan";
import { agentKey, type CrewRun, type RunState } from "@/server/domain/run";
import { isOpen } from "@/server/domain/run/commands/plan-edit";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { TASK_STATUS } from "../status";
import { person } from "../timeline/sentence-parts";
import { ValueView } from "../values";
import { AgentTranscript } from "./agent-transcript";

const TaskDialog = dynamic(() => import("./task-dialog").then((m) => m.TaskDialog), { ssr: false });

type Verdict = RunState["criteria"][string][number];

const COLUMNS: { title: string; holds: readonly TaskStatus[] }[] = [
  { title: "To do", holds: ["pending", "blocked"] },
  { title: "In progress", holds: ["in_progress", "awaiting_human"] },
  { title: "Finished", holds: ["completed", "failed", "skipped", "cancelled"] },
];

/** A crew's plan as a board; the chosen task shows who does it and how. */
export function PlanBoard({ activationId }: { activationId: string }) {
  const plan = useRun<ExecutionPlan | undefined>(({ state }) => state.plans[activationId], undefined);
  const [picked, setPicked] = useState<string | null>(null);
  const runId = useRunPage()?.runId;
  // Only the present can be changed.
  const crew = useRun<CrewRun | undefined>(
    ({ state, cursor }) => (cursor === null ? state.crews[activationId] : undefined),
    undefined,
  );
  // The dialog stays with what was written in it, although the crew has ended meanwhile.
  const dialogCrew = useRun<CrewRun | undefined>(({ head }) => head.crews[activationId], undefined);
  const canEdit = runId !== undefined && crew?.status === "running" && WITH_PLANS.has(crew.process);
  const editing = useDialog((close, task?: Task) =>
    plan && runId !== undefined && dialogCrew ? (
      <TaskDialog {...{ runId, plan, task }} crew={dialogCrew} isOver={!canEdit} onClose={close} />
    ) : null,
  );
  if (!plan) return null;
  const done = plan.tasks.filter(({ status }) => status === "completed").length;
  const shown = plan.tasks.find(({ task_id }) => task_id === picked) ?? currentTask(plan.tasks);
  return (
    <section aria-label="Plan" className="@container flex flex-col gap-3">
      <div className="flex items-baseline gap-2">
        <h3 className="text-xs font-semibold text-ink-2">Plan</h3>
        <p className="text-xs text-ink-3 tabular-nums">
          {done} of {countOf(plan.tasks.length, "task")} done
        </p>
        {canEdit ? (
          <Button
            size="sm"
            variant="ghost"
            className="ml-auto self-center"
            icon={<Plus aria-hidden />}
            onClick={() => editing.open()}
          >
            Add task
          </Button>
        ) : null}
      </div>
      <div className="grid items-start gap-2 @md:grid-cols-3">
        {COLUMNS.map(({ title, holds }) => {
          const tasks = plan.tasks.filter(({ status }) => holds.includes(status));
          return (
            <section key={title} aria-label={title} className="min-w-0 rounded-lg bg-sunken p-1.5">
              <h4 className="flex justify-between px-1 pb-1.5 text-xs text-ink-3">
                {title}
                <span className="tabular-nums">{tasks.length}</span>
              </h4>
              <ul className="flex flex-col @md:min-h-12 gap-1.5">
                {tasks.map((task) => (
                  <li key={task.task_id}>
                    <TaskCard task={task} isPicked={shown?.task_id === task.task_id} onPick={setPicked} />
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
      <Criteria activationId={activationId} />
      {shown ? (
        <TaskDetail
          key={shown.task_id}
          task={shown}
          activationId={activationId}
          onEdit={canEdit && isOpen(shown) ? () => editing.open(shown) : undefined}
        />
      ) : null}
      {editing.dialog}
    </section>
  );
}

/** Whether the whole is as it was to be: the newest verdict on each criterion. */
function Criteria({ activationId }: { activationId: string }) {
  const checked = useRun<readonly Verdict[] | undefined>(
    ({ state }) => state.criteria[activationId],
    undefined,
  );
  const newest = new Map(checked?.map((one) => [one.criterion, one]));
  if (newest.size === 0) return null;
  return (
    <ul aria-label="Success criteria" className="flex flex-col gap-1 text-[13px]">
      {[...newest.values()].map(({ criterion, met, evidence }) => (
        <li key={criterion} className="flex items-start gap-2">
          <StatusMark status={met ? "completed" : "failed"} size="sm" className="mt-0.5" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {criterion}
            <span className="text-ink-3">
              {" "}
              · {met ? "met" : "not met"}
              {evidence ? `: ${evidence}` : ""}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function TaskCard({
  task,
  isPicked,
  onPick,
}: {
  task: Task;
  isPicked: boolean;
  onPick: (id: string) => void;
}) {
  return (
    <button
      type="button"
      aria-pressed={isPicked}
      onClick={() => onPick(task.task_id)}
      className={clsx(
        "flex w-full min-w-0 flex-col gap-1 rounded-md border bg-raised p-2 text-left transition-colors",
        isPicked ? "border-accent" : "border-line hover:border-line-strong",
      )}
    >
      <span className="flex items-start gap-1.5">
        <StatusMark status={TASK_STATUS[task.status]} size="sm" className="mt-0.5" />
        <span className="line-clamp-2 min-w-0 text-xs leading-4 [overflow-wrap:anywhere]">
          {task.description}
        </span>
      </span>
      <span className="truncate text-[11px] text-ink-3">
        {task.assigned_agent ? person(task.assigned_agent) : (task.required_role ?? "Anyone")}
      </span>
    </button>
  );
}

function TaskDetail({
  task,
  activationId,
  onEdit,
}: {
  task: Task;
  activationId: string;
  onEdit: (() => void) | undefined;
}) {
  const keys = useRunList<string>(({ state }) =>
    Object.values(state.agents)
      .filter((agent) => agent.activation_id === activationId && agent.task_id === task.task_id)
      .map((agent) => agentKey(agent.activation_id, agent.agent_id, agent.task_id)),
  );
  return (
    <section
      aria-label={`Task ${task.task_id}`}
      className="flex flex-col gap-2 rounded-lg border border-line p-3"
    >
      <div className="flex items-center gap-2">
        <StatusMark status={TASK_STATUS[task.status]} size="sm" withWord />
        {onEdit ? (
          <Button size="sm" variant="ghost" icon={<PencilLine aria-hidden />} onClick={onEdit}>
            Edit
          </Button>
        ) : null}
        <span className="ml-auto truncate font-mono text-xs text-ink-3">{task.task_id}</span>
      </div>
      <p className="text-[13px] [overflow-wrap:anywhere]">{task.description}</p>
      <p className="text-xs text-ink-3">
        {[
          task.required_role ? `Role ${task.required_role}` : null,
          task.assigned_agent
            ? `${task.status === "completed" ? "done by" : "for"} ${person(task.assigned_agent)}`
            : null,
          task.dependencies.length > 0 ? `after ${task.dependencies.join(", ")}` : null,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <TaskTerms task={task} />
      {task.error_message ? <p className="text-[13px] text-failed">{task.error_message}</p> : null}
      {keys.map((key) => (
        <AgentTranscript key={key} agentKey={key} />
      ))}
      {task.output !== undefined ? (
        <Disclosure title="Task result">
          <ValueView value={task.output} label={`result of ${task.task_id}`} />
        </Disclosure>
      ) : null}
    </section>
  );
}

/** Processes in which the plan decides what is done. */
const WITH_PLANS: ReadonlySet<CrewRun["process"]> = new Set(["sequential", "parallel"]);

const URGENCY = { low: "low priority", medium: null, high: "high priority", critical: "critical priority" };

/** The details of a task: priority, deadline, condition, tags, expected output. */
function TaskTerms({ task }: { task: Task }) {
  const { deadline, tags } = task.metadata;
  const details = [
    URGENCY[task.priority],
    typeof deadline === "string" ? `due ${deadline.replace("T", " ").replace(/:00(\.0+)?Z$/, "")}` : null,
    task.estimated_duration ? `takes about ${task.estimated_duration}` : null,
    task.condition ? `only if ${task.condition}` : null,
    task.human_review ? "requires human review" : null,
    tags && tags.length > 0 ? `tagged ${tags.join(", ")}` : null,
    task.expected_output ? `expected output: ${task.expected_output}` : null,
  ].filter(Boolean);
  return details.length > 0 ? (
    <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">{details.join(" · ")}</p>
  ) : null;
}

const currentTask = (tasks: readonly Task[]) =>
  tasks.findLast(({ status }) => status === "in_progress") ??
  tasks.findLast(({ status }) => status === "completed") ??
  tasks[0];
