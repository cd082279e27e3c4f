"use client";

import { Download, FileUp, Plus, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { roleOptions } from "@/components/forms/fields/role-field";
import { downloadPlan } from "@/components/page/download";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { Field } from "@/components/ui/input/field";
import { ListEditor } from "@/components/ui/input/list-editor";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { freshId } from "@/server/domain/base/ids";
import { isEmptyPlan } from "@/server/domain/crew/crew-diagnostics";
import { ExecutionPlan, planErrors, Task } from "@/server/domain/crew/plan";
import { readPlanText } from "@/server/domain/crew/read-plan";
import { isCrewNode } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { DraftField } from "../fields/draft-field";
import { GuardrailsField } from "../fields/guardrails-field";
import { FormDialog } from "../form-dialog";
import { useFormScope } from "../form-scope";
import { DURATION_HINT, durationError, PRIORITIES, TAGS_HINT, tagsIn, URGENCY_HINT } from "./task-terms";

/** The tasks of a crew with their assignees and dependencies. If empty, a planner role writes the plan. */
export function PlanField({
  label,
  hint,
  error,
  value: plan,
  onChange,
}: FieldProps<ExecutionPlan | undefined> & { value: ExecutionPlan | undefined }) {
  const importing = useDialog((close) => <ImportDialog onClose={close} onPlan={onChange} />);
  const tasks = plan?.tasks ?? [];
  const errors = planErrors(tasks);
  const change = (patch: Partial<ExecutionPlan>) => {
    const next = { ...(plan ?? ExecutionPlan.parse({ tasks: [] })), ...patch };
    onChange(isEmptyPlan(next) ? undefined : next);
  };
  const write = (next: Task[]) => change({ tasks: next });
  const set = (at: number, patch: Partial<Task>) =>
    write(tasks.map((task, i) => (i === at ? { ...task, ...patch } : task)));
  const remove = (at: number) => {
    const gone = tasks[at]?.task_id;
    write(
      tasks
        .filter((_, i) => i !== at)
        .map((task) => ({ ...task, dependencies: task.dependencies.filter((id) => id !== gone) })),
    );
  };
  const add = () => {
    const id = freshId("task_1", new Set(tasks.map(({ task_id }) => task_id)));
    const fresh = tasks.length === 0 ? "task_1" : id === "task_1" ? id : nextId(tasks);
    write([...tasks, Task.parse({ task_id: fresh, description: "Describe this task" })]);
  };
  return (
    <Field label={label} hint={hint} error={error ?? errors[0]?.message} group>
      <ol className="flex flex-col gap-2">
        {tasks.map((task, at) => (
          <li key={task.task_id} className="rounded-lg border border-line bg-bg p-2.5">
            <TaskFields
              task={task}
              at={at}
              others={tasks.filter((_, i) => i !== at).map(({ task_id }) => task_id)}
              onChange={(patch) => set(at, patch)}
              onRemove={() => remove(at)}
            />
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-1">
        <Button size="sm" icon={<Plus aria-hidden />} onClick={add}>
          Add task
        </Button>
        <Button size="sm" variant="ghost" icon={<FileUp aria-hidden />} onClick={importing.open}>
          Import plan.json
        </Button>
        {plan ? (
          <Button
            size="sm"
            variant="ghost"
            icon={<Download aria-hidden />}
            onClick={() => downloadPlan(plan)}
          >
            Download plan.json
          </Button>
        ) : null}
        {plan && tasks.length > 0 ? (
          <Button size="sm" variant="ghost" icon={<Trash2 aria-hidden />} onClick={() => onChange(undefined)}>
            Remove plan
          </Button>
        ) : null}
      </div>
      <PeopleAndCriteria plan={plan} onChange={change} />
      {importing.dialog}
    </Field>
  );
}

function PeopleAndCriteria({
  plan,
  onChange,
}: {
  plan: ExecutionPlan | undefined;
  onChange: (patch: Partial<ExecutionPlan>) => void;
}) {
  return (
    <Disclosure variant="box" title="Review and criteria">
      <Select
        label="Ask a person"
        options={MODES}
        value={plan?.execution_mode ?? "autonomous"}
        onValueChange={(execution_mode) => onChange({ execution_mode })}
      />
      <ListEditor
        label="Intervention points"
        hint="before_ or after_ followed by a task's ID, tag or description; or on_error"
        itemName="point"
        placeholder="before_deployment"
        items={plan?.human_intervention_points ?? []}
        onItemsChange={(human_intervention_points) => onChange({ human_intervention_points })}
      />
      <ListEditor
        label="Success criteria"
        hint="Plain text for a judge, or cel: followed by an expression"
        itemName="criterion"
        placeholder="cel: output.report.size() > 500"
        items={plan?.success_criteria ?? []}
        onItemsChange={(success_criteria) => onChange({ success_criteria })}
      />
    </Disclosure>
  );
}

/** The plan of the crew node in the form. */
export function NodePlanField(props: FieldProps) {
  const { node } = useFormScope();
  return <PlanField {...props} value={isCrewNode(node) ? node.config.plan : undefined} />;
}

const MODES: { value: ExecutionPlan["execution_mode"]; label: string }[] = [
  { value: "autonomous", label: "At intervention points only" },
  { value: "step", label: "Before every task" },
  { value: "hitl", label: "After every task" },
  { value: "breakpoint", label: "On task failure" },
];

function nextId(tasks: readonly Task[]): string {
  const taken = new Set(tasks.map(({ task_id }) => task_id));
  for (let n = tasks.length + 1; ; n++) if (!taken.has(`task_${n}`)) return `task_${n}`;
}

interface TaskProps {
  task: Task;
  at: number;
  others: readonly string[];
  onChange: (patch: Partial<Task>) => void;
  onRemove: () => void;
}

const ANYONE = "(anyone)";
/** Prefix that tells agent ids from role names. */
const AGENT = "(agent) ";

function TaskFields({ task, at, others, onChange, onRemove }: TaskProps) {
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <code className="flex-1 font-mono text-xs text-ink-2">{task.task_id}</code>
        <IconButton
          label={`Remove ${task.task_id}`}
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={onRemove}
        />
      </div>
      <DraftField
        label={`Description of task ${at + 1}`}
        hideLabel
        multiline
        value={task.description}
        onCommit={(description) => onChange({ description })}
        check={(text) => (text.trim() === "" ? "Enter a description." : null)}
      />
      <AssigneeSelect task={task} at={at} onChange={onChange} />
      {others.length > 0 && (
        <CheckboxGroup
          label="Depends on"
          className="flex flex-wrap gap-x-4 gap-y-1"
          options={others.map((id) => ({ value: id, label: id }))}
          value={task.dependencies}
          onValueChange={(dependencies) => onChange({ dependencies })}
        />
      )}
      <TaskTerms task={task} onChange={onChange} />
      <Disclosure variant="box" title="Guardrails" aside={task.guardrails.map(({ name }) => name).join(", ")}>
        <GuardrailsField
          label={`Guardrails of ${task.task_id}`}
          hideLabel
          value={task.guardrails}
          keys={{ input: [], output: [task.task_id] }}
          onChange={(guardrails) => onChange({ guardrails })}
        />
      </Disclosure>
    </div>
  );
}

/** Whoever fits, a role, or an agent of the crew. */
function AssigneeSelect({ task, at, onChange }: Pick<TaskProps, "task" | "at" | "onChange">) {
  const { roles, node } = useFormScope();
  const agents = isCrewNode(node) ? (node.config.crew?.agents ?? []) : [];
  const inCrew = new Set(agents.map(({ role_name }) => role_name));
  const agentIds = [
    ...new Set([
      ...agents.map(({ agent_id }) => agent_id),
      ...(task.assigned_agent ? [task.assigned_agent] : []),
    ]),
  ];
  const offered = agents.length > 0 ? roles.filter(({ name }) => inCrew.has(name)) : roles;
  return (
    <Select
      label={`Assignee of task ${at + 1}`}
      hideLabel
      options={[
        { value: ANYONE, label: "Auto-assign" },
        ...roleOptions(offered, task.required_role ?? ""),
        ...agentIds.map((id) => ({ value: AGENT + id, label: `Agent ${id}` })),
      ]}
      value={task.assigned_agent ? AGENT + task.assigned_agent : (task.required_role ?? ANYONE)}
      onValueChange={(who) =>
        onChange({
          assigned_agent: who.startsWith(AGENT) ? who.slice(AGENT.length) : undefined,
          required_role: who.startsWith(AGENT) || who === ANYONE ? undefined : who,
        })
      }
    />
  );
}

function TaskTerms({ task, onChange }: Pick<TaskProps, "task" | "onChange">) {
  return (
    <Disclosure variant="box" title="Priority, tags and more" aside={termsOf(task)}>
      <Select
        label="Priority"
        hint={URGENCY_HINT}
        options={PRIORITIES}
        value={task.priority}
        onValueChange={(priority) => onChange({ priority })}
      />
      <DraftField
        label={`Tags of ${task.task_id}`}
        hint={TAGS_HINT}
        check={() => null}
        value={(task.metadata.tags ?? []).join(", ")}
        onCommit={(text) => onChange({ metadata: { ...task.metadata, tags: tagsIn(text) } })}
      />
      <DraftField
        label={`Expected output of ${task.task_id}`}
        multiline
        check={() => null}
        value={task.expected_output ?? ""}
        onCommit={(text) => onChange({ expected_output: text.trim() || undefined })}
      />
      <DraftField
        label={`Estimated duration of ${task.task_id}`}
        hint={DURATION_HINT}
        value={task.estimated_duration ?? ""}
        check={durationError}
        onCommit={(text) => onChange({ estimated_duration: text.trim() || undefined })}
      />
    </Disclosure>
  );
}

/** A short summary of a task's terms. */
const termsOf = ({ priority, metadata, estimated_duration }: Task): string =>
  [
    priority === "medium" ? "" : PRIORITIES.find(({ value }) => value === priority)?.label,
    ...(metadata.tags ?? []),
    estimated_duration,
  ]
    .filter(Boolean)
    .join(", ");

function ImportDialog({ onClose, onPlan }: { onClose: () => void; onPlan: (plan: ExecutionPlan) => void }) {
  const [text, setText] = useState("");
  const { plan, findings } = useMemo(() => readPlanText(text), [text]);
  const isEmpty = text.trim() === "";
  const error = isEmpty ? undefined : findings.find(({ level }) => level === "error")?.message;
  return (
    <FormDialog
      title="Import plan"
      description="A plan.json with tasks, assignees and dependencies. It replaces this node's plan."
      submit="Import plan"
      isIncomplete={plan === null}
      onSubmit={() => {
        if (plan) onPlan(plan);
        onClose();
      }}
      onClose={onClose}
    >
      <label className="flex cursor-pointer items-center gap-2 self-start rounded-lg border border-dashed border-line-strong px-3 py-2 text-[13px] hover:border-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-focus">
        <FileUp aria-hidden="true" className="size-4 text-ink-3" />
        Choose a file
        <input
          type="file"
          accept=".json,application/json"
          className="sr-only"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void file.text().then(setText);
          }}
        />
      </label>
      <TextArea label="plan.json" mono rows={12} value={text} onValueChange={setText} error={error} />
      {plan ? (
        <div role="status" className="text-[13px] text-ink-2">
          <p>
            {plan.tasks.length} {plan.tasks.length === 1 ? "task" : "tasks"}
            {findings.length === 0 ? ", no findings." : ". Findings:"}
          </p>
          <ul className="mt-1 flex list-disc flex-col gap-1 pl-5">
            {findings.map(({ at, message }) => (
              <li key={`${at} ${message}`}>
                {at ? <code className="font-mono text-xs">{at}: </code> : null}
                {message}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </FormDialog>
  );
}
