"use client";

import { countOf } from "@/components/display/format";
import { person } from "@/components/run/timeline/sentence-parts";
import { Disclosure } from "@/components/ui/disclosure";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import type { Task } from "@/server/domain/crew/plan";
import { isOpen } from "@/server/domain/run/commands/plan-edit";
import { type PlanDraft, type TaskDraft, taskKey } from "./fork-draft";
import type { ForkedMoment } from "./fork-moment";

const BY_ROLE = "(role)";

interface ForkPlanProps {
  plans: ForkedMoment["plans"];
  draft: PlanDraft;
  /** How many changes there are. */
  changed: number;
  onChange: (draft: PlanDraft) => void;
}

/** Edits the open tasks of plans that continue in the fork, and adds tasks. */
export function ForkPlan({ plans, draft, changed, onChange }: ForkPlanProps) {
  if (plans.length === 0) return null;
  return (
    <Disclosure
      variant="box"
      title="Plan"
      aside={changed > 0 ? `${countOf(changed, "change")}` : "Unchanged"}
    >
      {plans.map(({ crew: { activation_id, members }, plan }) => {
        const people = members.map(({ agent_id, role_name }) => ({
          value: agent_id,
          label: person(agent_id),
          hint: role_name,
        }));
        return (
          <div key={activation_id} className="flex flex-col gap-4">
            {plan.tasks.filter(isOpen).map((task) => {
              const key = taskKey(activation_id, task.task_id);
              const own = draft.tasks[key] ?? {};
              return (
                <OpenTask
                  key={key}
                  {...{ task, people }}
                  draft={own}
                  onChange={(change) =>
                    onChange({ ...draft, tasks: { ...draft.tasks, [key]: { ...own, ...change } } })
                  }
                />
              );
            })}
            <NewTask
              people={people}
              draft={draft.added[activation_id]}
              onChange={(added) => onChange({ ...draft, added: { ...draft.added, [activation_id]: added } })}
            />
          </div>
        );
      })}
    </Disclosure>
  );
}

interface Person {
  value: string;
  label: string;
  hint: string;
}

function OpenTask({
  task: { task_id, description, assigned_agent, required_role },
  people,
  draft,
  onChange,
}: {
  task: Task;
  people: readonly Person[];
  draft: TaskDraft;
  onChange: (change: TaskDraft) => void;
}) {
  const disabled = draft.isOut === true;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-[13px] font-medium">{task_id}</legend>
      <TextArea
        label={`Description of ${task_id}`}
        hideLabel
        rows={2}
        disabled={disabled}
        value={draft.description ?? description}
        onValueChange={(text) => onChange({ description: text })}
      />
      <Select
        label={`Assignee of ${task_id}`}
        hideLabel
        size="sm"
        disabled={disabled}
        options={
          assigned_agent ? people : [{ value: BY_ROLE, label: required_role ?? "Auto-assign" }, ...people]
        }
        value={draft.who ?? assigned_agent ?? BY_ROLE}
        onValueChange={(who) => (who === BY_ROLE ? undefined : onChange({ who }))}
      />
      <Checkbox
        label={`Remove ${task_id}`}
        checked={disabled}
        onCheckedChange={(isOut) => onChange({ isOut })}
      />
    </fieldset>
  );
}

type AddedTask = PlanDraft["added"][string];

function NewTask({
  people,
  draft,
  onChange,
}: {
  people: readonly Person[];
  draft: AddedTask | undefined;
  onChange: (draft: AddedTask) => void;
}) {
  return (
    <>
      <TextArea
        label="New task"
        hint="Optional"
        rows={2}
        value={draft?.description ?? ""}
        onValueChange={(description) => onChange({ who: draft?.who ?? people[0]?.value ?? "", description })}
      />
      {draft?.description.trim() ? (
        <Select
          label="Assignee"
          size="sm"
          options={people}
          value={draft.who}
          onValueChange={(who) => onChange({ ...draft, who })}
        />
      ) : null}
    </>
  );
}
