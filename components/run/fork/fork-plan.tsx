"use client";

import { countOf } from "@/components/display/format";
import { person } from "@/components/run/timeline/sentence-parts";
import { Disclosure } from "@/components/ui/disclosure";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { isOpen } from "@/server/domain/run/commands/plan-edit";
import { type PlanDraft, type TaskDraft, taskKey } from "./fork-draft";
import type { ForkedMoment } from "./fork-moment";

const BY_ROLE = "(role)";

/** Lets a person change what is left of the plans that go on in the fork. */
export function ForkPlan({
  plans,
  draft,
  changed,
  onChange,
}: {
  plans: ForkedMoment["plans"];
  draft: PlanDraft;
  /** How many changes there are. */
  changed: number;
  onChange: (draft: PlanDraft) => void;
}) {
  if (plans.length === 0) return null;
  const setTask = (key: string, task: TaskDraft) =>
    onChange({ ...draft, tasks: { ...draft.tasks, [key]: { ...draft.tasks[key], ...task } } });
  return (
    <Disclosure
      variant="box"
      title="Plan"
      aside={changed > 0 ? `${countOf(changed, "change")}` : "As it was"}
    >
      {plans.map(({ crew: { activation_id, members }, plan }) => {
        const people = members.map(({ agent_id, role_name }) => ({
          value: agent_id,
          label: person(agent_id),
          hint: role_name,
        }));
        const added = draft.added[activation_id];
        return (
          <div key={activation_id} className="flex flex-col gap-4">
            {plan.tasks.filter(isOpen).map(({ task_id, description, assigned_agent, required_role }) => {
              const key = taskKey(activation_id, task_id);
              const task = draft.tasks[key] ?? {};
              return (
                <fieldset key={key} className="flex flex-col gap-2">
                  <legend className="pb-1 text-[13px] font-medium">{task_id}</legend>
                  <TextArea
                    label={`What ${task_id} is`}
                    hideLabel
                    rows={2}
                    disabled={task.isOut === true}
                    value={task.description ?? description}
                    onValueChange={(text) => setTask(key, { description: text })}
                  />
                  <Select
                    label={`Who does ${task_id}`}
                    hideLabel
                    size="sm"
                    disabled={task.isOut === true}
                    options={
                      assigned_agent
                        ? people
                        : [{ value: BY_ROLE, label: required_role ?? "Whoever fits best" }, ...people]
                    }
                    value={task.who ?? assigned_agent ?? BY_ROLE}
                    onValueChange={(who) => (who === BY_ROLE ? undefined : setTask(key, { who }))}
                  />
                  <Checkbox
                    label={`Leave ${task_id} out`}
                    checked={task.isOut === true}
                    onCheckedChange={(isOut) => setTask(key, { isOut })}
                  />
                </fieldset>
              );
            })}
            <TextArea
              label="Another task"
              hint="Empty: none."
              rows={2}
              value={added?.description ?? ""}
              onValueChange={(text) =>
                onChange({
                  ...draft,
                  added: {
                    ...draft.added,
                    [activation_id]: { who: added?.who ?? members[0]?.agent_id ?? "", description: text },
                  },
                })
              }
            />
            {added?.description.trim() ? (
              <Select
                label="Who does it"
                size="sm"
                options={people}
                value={added.who}
                onValueChange={(who) =>
                  onChange({ ...draft, added: { ...draft.added, [activation_id]: { ...added, who } } })
                }
              />
            ) : null}
          </div>
        );
      })}
    </Disclosure>
  );
}
