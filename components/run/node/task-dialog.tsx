"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
  DURATION_HINT,
  durationError,
  PRIORITIES,
  TAGS_HINT,
  tagsIn,
  URGENCY_HINT,
} from "@/components/forms/crew/task-terms";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import type { FormPart } from "@/server/domain/base/form";
import { isSameJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { ExecutionPlan, Task } from "@/server/domain/crew/plan";
import type { CrewRun } from "@/server/domain/run";
import type { PlanEdit } from "@/server/domain/run/commands/plan-edit";
import { person } from "../timeline/sentence-parts";

export interface TaskDialogProps {
  runId: string;
  crew: CrewRun;
  plan: ExecutionPlan;
  /** The task to change; absent: a new one. */
  task?: Task | undefined;
  /** The crew has ended: the text can still be copied, but not sent. */
  isOver?: boolean | undefined;
  onClose: () => void;
}

interface TaskDraft {
  description: string;
  who: string | undefined;
  priority: Task["priority"];
  after: string[];
  tags: string;
  output: string;
  duration: string;
}

const TASK_FORM: readonly FormPart<TaskDraft>[] = [
  { key: "description", label: "Task", as: "multiline", lines: 4, empty: "" },
  {
    as: "columns",
    most: 2,
    areWide: true,
    parts: [
      { key: "who", label: "Assignee", as: "choice" },
      { key: "priority", label: "Priority", as: "choice", hint: URGENCY_HINT, options: PRIORITIES },
    ],
  },
  { key: "after", label: "Depends on", as: "several", hint: "Leave empty to start once an assignee is free" },
  {
    as: "box",
    title: "Tags, output and duration",
    parts: [
      { key: "tags", label: "Tags", as: "text", hint: TAGS_HINT, empty: "" },
      { key: "output", label: "Expected output", as: "multiline", lines: 2, empty: "" },
      { key: "duration", label: "Estimated duration", as: "text", hint: DURATION_HINT, empty: "" },
    ],
  },
];
const FIRST_TASK_FORM = TASK_FORM.filter((part) => !("key" in part) || part.key !== "after");

/** Changes or removes a task that has not started, or adds one, while the crew runs. */
export function TaskDialog({ runId, crew, plan, task, isOver, onClose }: TaskDialogProps) {
  const [draft, setDraft] = useState(() => draftOf(task));
  const error = durationError(draft.duration);
  const edit = useMutation(
    useTrpc().runs.editPlan.mutationOptions({
      onError: () => {},
      onSuccess: ({ applied }, { edit: { kind } }) => {
        onClose();
        if (applied) toast(DONE[kind], { tone: "success" });
      },
    }),
  );
  const send = (change: PlanEdit) =>
    edit.mutate({ run_id: runId, activation_id: crew.activation_id, edit: change });
  const others = plan.tasks.filter(
    ({ task_id, status }) =>
      task_id !== task?.task_id && (status !== "cancelled" || draft.after.includes(task_id)),
  );
  return (
    <FormDialog
      sticky
      title={task ? "Edit task" : "Add task"}
      description="Applies to this run only. The workflow doesn't change."
      submit={task ? "Save" : "Add"}
      cancel={isOver ? "Close" : undefined}
      mutation={isOver ? undefined : edit}
      isIncomplete={isOver || error !== null || draft.description.trim() === "" || (!task && !draft.who)}
      actions={
        task && task.status !== "awaiting_human" && !isOver ? (
          <Button
            variant="danger"
            className="mr-auto"
            disabled={edit.isPending}
            onClick={() => send({ kind: "cancel", task_id: task.task_id })}
          >
            Remove task
          </Button>
        ) : null
      }
      onSubmit={() =>
        send(
          task
            ? { kind: "change", task_id: task.task_id, patch: changesOf(task, draft) }
            : { kind: "add", task: { ...settingsOf(draft), ...asWho(draft.who) } },
        )
      }
      onClose={onClose}
    >
      <FormParts
        parts={others.length > 0 ? TASK_FORM : FIRST_TASK_FORM}
        value={draft}
        onChange={setDraft}
        now={{
          who: { options: choicesOf(crew) },
          after: {
            options: others.map(({ task_id, description: text }) => ({
              value: task_id,
              label: must(text.split("\n"), 0).slice(0, 80),
            })),
          },
          duration: { error: error ?? undefined },
        }}
      />
      {isOver ? (
        <p role="alert" className="rounded-lg border border-waiting/40 bg-waiting/8 px-3 py-2 text-[13px]">
          The crew has finished, so this can't be saved. Copy your text if you need it.
        </p>
      ) : null}
    </FormDialog>
  );
}

const DONE = { add: "Added task", change: "Updated task", cancel: "Removed task" } as const;

// One choice for agents, teams and roles: their names could be the same.
const AGENT = "agent ";
const ROLE = "role ";

const whoOf = ({ assigned_agent, required_role }: Task): string | undefined =>
  assigned_agent ? AGENT + assigned_agent : required_role ? ROLE + required_role : undefined;

function asWho(who: string | undefined) {
  if (who === undefined) return {};
  return who.startsWith(AGENT)
    ? { assigned_agent: who.slice(AGENT.length) }
    : { assigned_agent: null, required_role: who.slice(ROLE.length) };
}

function choicesOf({ members, teams }: CrewRun) {
  const roles = [...new Set(members.map(({ role_name }) => role_name))];
  return [
    ...members.map(({ agent_id, role_name }) => ({
      value: AGENT + agent_id,
      label: person(agent_id),
      hint: role_name,
    })),
    ...Object.keys(teams).map((name) => ({
      value: AGENT + name,
      label: name,
      hint: "Least busy member of this team",
    })),
    ...roles.map((name) => ({
      value: ROLE + name,
      label: `Any ${name}`,
      hint: "Least busy agent with this role",
    })),
  ];
}

function draftOf(task: Task | undefined): TaskDraft {
  return {
    description: task?.description ?? "",
    who: task && whoOf(task),
    priority: task?.priority ?? "medium",
    after: task?.dependencies ?? [],
    tags: (task?.metadata.tags ?? []).join(", "),
    output: task?.expected_output ?? "",
    duration: task?.estimated_duration ?? "",
  };
}

/** The task without who does it. */
const settingsOf = ({ description, priority, after, tags, output, duration }: TaskDraft) => ({
  description: description.trim(),
  priority,
  dependencies: after,
  tags: tagsIn(tags),
  expected_output: output.trim(),
  estimated_duration: duration.trim(),
});

/** Only the changes: the crew may have changed the rest meanwhile. */
function changesOf(task: Task, draft: TaskDraft) {
  const before = draftOf(task);
  const old = settingsOf(before);
  const now = settingsOf(draft);
  const ifChanged = <K extends keyof typeof now>(key: K) =>
    isSameJson(old[key], now[key]) ? undefined : now[key];
  return {
    ...defined({
      description: ifChanged("description"),
      priority: ifChanged("priority"),
      dependencies: ifChanged("dependencies"),
      tags: ifChanged("tags"),
      expected_output: ifChanged("expected_output"),
      estimated_duration: ifChanged("estimated_duration"),
    }),
    ...(draft.who === before.who ? {} : asWho(draft.who)),
  };
}
