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
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { Disclosure } from "@/components/ui/disclosure";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { present } from "@/server/domain/base/must";
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
  /** The crew has ended meanwhile: what was written can be read and copied, and does nothing any more. */
  isOver?: boolean | undefined;
  onClose: () => void;
}

/** Changes a task that has not begun, takes it out, or adds one, while the crew works. */
export function TaskDialog({ runId, crew, plan, task, isOver, onClose }: TaskDialogProps) {
  const [description, setDescription] = useState(task?.description ?? "");
  const [who, setWho] = useState(task ? whoOf(task) : null);
  const [priority, setPriority] = useState<Task["priority"]>(task?.priority ?? "medium");
  const [after, setAfter] = useState<readonly string[]>(task?.dependencies ?? []);
  const [tags, setTags] = useState((task?.metadata.tags ?? []).join(", "));
  const [output, setOutput] = useState(task?.expected_output ?? "");
  const [duration, setDuration] = useState(task?.estimated_duration ?? "");
  const error = durationError(duration);
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
  const settings = {
    description: description.trim(),
    priority,
    dependencies: [...after],
    tags: tagsIn(tags),
    expected_output: output.trim(),
    estimated_duration: duration.trim(),
    ...asWho(who),
  };
  const save = () =>
    send(
      task
        ? { kind: "change", task_id: task.task_id, patch: changesOf(task, settings) }
        : { kind: "add", task: settings },
    );
  const others = plan.tasks.filter(
    ({ task_id, status }) => task_id !== task?.task_id && (status !== "cancelled" || after.includes(task_id)),
  );
  const isWhole = error === null && description.trim() !== "" && (task !== undefined || who !== null);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky
      title={task ? "Change the task" : "Add a task"}
      description="It holds for this run; the workflow stays as it is."
      footer={
        <>
          {task && task.status !== "awaiting_human" && !isOver ? (
            <Button
              variant="danger"
              className="mr-auto"
              disabled={edit.isPending}
              onClick={() => send({ kind: "cancel", task_id: task.task_id })}
            >
              Take it out
            </Button>
          ) : null}
          <Button onClick={onClose}>{isOver ? "Close" : "Cancel"}</Button>
          <Button variant="primary" disabled={!isWhole || isOver} pending={edit.isPending} onClick={save}>
            {task ? "Save" : "Add"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <TextArea label="What is to be done" rows={4} value={description} onValueChange={setDescription} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label="Who does it"
            placeholder="Choose…"
            options={choicesOf(crew)}
            value={who}
            onValueChange={setWho}
          />
          <Select
            label="Urgency"
            hint={URGENCY_HINT}
            options={PRIORITIES}
            value={priority}
            onValueChange={setPriority}
          />
        </div>
        {others.length > 0 ? (
          <Field label="Only after" hint="Left open: as soon as somebody is free for it" group>
            <div className="flex max-h-44 flex-col gap-2 overflow-y-auto">
              {others.map(({ task_id, description: text }) => (
                <Checkbox
                  key={task_id}
                  label={present(text.split("\n")[0], "split").slice(0, 80)}
                  checked={after.includes(task_id)}
                  onCheckedChange={(is) =>
                    setAfter(is ? [...after, task_id] : after.filter((id) => id !== task_id))
                  }
                />
              ))}
            </div>
          </Field>
        ) : null}
        <Disclosure variant="box" title="Tags, output and duration">
          <TextField label="Tags" hint={TAGS_HINT} value={tags} onValueChange={setTags} />
          <TextArea label="Expected output" rows={2} value={output} onValueChange={setOutput} />
          <TextField
            label="Estimated duration"
            hint={DURATION_HINT}
            value={duration}
            onValueChange={setDuration}
            error={error ?? undefined}
          />
        </Disclosure>
        {isOver ? (
          <p role="alert" className="rounded-lg border border-waiting/40 bg-waiting/8 px-3 py-2 text-[13px]">
            The crew has ended meanwhile, so nothing can be changed any more. What you wrote stays here to be
            copied.
          </p>
        ) : null}
        {edit.error && !isOver ? (
          <p role="alert" className="text-[13px] text-failed">
            {toApiError(edit.error).message}
          </p>
        ) : null}
      </div>
    </Dialog>
  );
}

const DONE = { add: "Task added", change: "Task changed", cancel: "Task taken out" } as const;

// One choice for agents, teams and roles: their names could be the same.
const AGENT = "agent ";
const ROLE = "role ";

const whoOf = ({ assigned_agent, required_role }: Task): string | null =>
  assigned_agent ? AGENT + assigned_agent : required_role ? ROLE + required_role : null;

function asWho(who: string | null) {
  if (who === null) return {};
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
      hint: "The least busy of this team",
    })),
    ...roles.map((name) => ({
      value: ROLE + name,
      label: `Any ${name}`,
      hint: "The least busy of this role",
    })),
  ];
}

/** Only what is different: what nobody touched may have been changed by the crew meanwhile. */
function changesOf(task: Task, settings: Extract<PlanEdit, { kind: "add" }>["task"]) {
  const { description, priority, dependencies, assigned_agent, required_role } = settings;
  const { tags = [], expected_output, estimated_duration } = settings;
  const isSame = (dependencies ?? []).join() === task.dependencies.join();
  const isSameWho = (assigned_agent ?? null) === (task.assigned_agent ?? null);
  return {
    ...(description === task.description ? {} : { description }),
    ...(priority === task.priority ? {} : { priority }),
    ...(isSame ? {} : { dependencies }),
    ...(tags.join() === (task.metadata.tags ?? []).join() ? {} : { tags }),
    ...(expected_output === (task.expected_output ?? "") ? {} : { expected_output }),
    ...(estimated_duration === (task.estimated_duration ?? "") ? {} : { estimated_duration }),
    ...(isSameWho && (assigned_agent || (required_role ?? null) === (task.required_role ?? null))
      ? {}
      : { assigned_agent, ...(required_role ? { required_role } : {}) }),
  };
}
