"use client";

import { ClipboardPaste, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { roleOptions } from "@/components/crews/agent-form";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import { freshId } from "@/server/domain/ids";
import { ExecutionPlan, planFaults, Task } from "@/server/domain/plan";
import { DraftField } from "./draft-field";
import type { FieldProps } from "./field-view";
import { useFormScope } from "./form-scope";

/** The tasks of a crew, who does each, and what each waits for. Empty: a planner role writes them. */
export function PlanField({ label, hint, error, value, onChange }: FieldProps) {
  const [isPasting, setPasting] = useState(false);
  const plan = (value ?? undefined) as ExecutionPlan | undefined;
  const tasks = plan?.tasks ?? [];
  const faults = planFaults(tasks);
  const write = (next: Task[]) =>
    onChange(
      next.length === 0 ? undefined : plan ? { ...plan, tasks: next } : ExecutionPlan.parse({ tasks: next }),
    );
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
    <Field label={label} hint={hint} error={error ?? faults[0]?.message} group>
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
          Add a task
        </Button>
        <Button
          size="sm"
          variant="ghost"
          icon={<ClipboardPaste aria-hidden />}
          onClick={() => setPasting(true)}
        >
          Paste plan.json
        </Button>
      </div>
      {isPasting && <PasteDialog onClose={() => setPasting(false)} onPlan={onChange} />}
    </Field>
  );
}

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

function TaskFields({ task, at, others, onChange, onRemove }: TaskProps) {
  const { roles, node } = useFormScope();
  const agents = node?.node_type === "crew_task" ? (node.config.crew?.agents ?? []) : [];
  const inCrew = new Set(agents.map(({ role_name }) => role_name));
  const offered = agents.length > 0 ? roles.filter(({ name }) => inCrew.has(name)) : roles;
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
        check={(text) => (text.trim() === "" ? "A task needs a description" : null)}
      />
      <Select
        label={`Who does task ${at + 1}`}
        hideLabel
        options={[
          { value: ANYONE, label: "Whoever fits" },
          ...roleOptions(offered, task.required_role ?? ""),
        ]}
        value={task.required_role ?? ANYONE}
        onValueChange={(role) => onChange({ required_role: role === ANYONE ? undefined : role })}
      />
      {others.length > 0 && (
        <fieldset>
          <legend className="mb-1 text-xs text-ink-3">After</legend>
          <div className="flex flex-wrap gap-x-4 gap-y-1">
            {others.map((id) => (
              <Checkbox
                key={id}
                label={id}
                checked={task.dependencies.includes(id)}
                onCheckedChange={(isOn) =>
                  onChange({
                    dependencies: isOn
                      ? [...task.dependencies, id]
                      : task.dependencies.filter((other) => other !== id),
                  })
                }
              />
            ))}
          </div>
        </fieldset>
      )}
    </div>
  );
}

function PasteDialog({ onClose, onPlan }: { onClose: () => void; onPlan: (plan: ExecutionPlan) => void }) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const take = () => {
    try {
      const plan = ExecutionPlan.safeParse(JSON.parse(text));
      if (plan.success) {
        onPlan(plan.data);
        onClose();
      } else {
        const issue = plan.error.issues[0];
        setFault(issue ? `${issue.path.join(".")}: ${issue.message}` : "This is no plan.");
      }
    } catch {
      setFault("This is no JSON.");
    }
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Paste a plan"
      description="A plan.json: its tasks, who does them and what they wait for. It replaces the plan of this node."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={take} disabled={text.trim() === ""}>
            Use this plan
          </Button>
        </>
      }
    >
      <TextArea
        label="plan.json"
        mono
        rows={12}
        value={text}
        onValueChange={setText}
        error={fault ?? undefined}
      />
    </Dialog>
  );
}
