"use client";

import { ArrowRight, Plus, X } from "lucide-react";
import { DraftField } from "@/components/forms/fields/draft-field";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { Field } from "@/components/ui/input/field";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { RowList } from "@/components/ui/row-list";
import { freshId } from "@/server/domain/base/ids";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { END_TARGETS, targetOf } from "@/server/domain/crew/pattern";
import { type GroupDraft, groupsOf, type StepDraft, stepsOf, withGroups, withSteps } from "./crew-changes";

export interface PatternEditorProps {
  crew: CrewConfig;
  agents: readonly { value: string; label: string; hint: string }[];
  onChange: (crew: CrewConfig) => void;
}

const NOBODY = "(nobody)";

const ENDS = [
  { value: END_TARGETS.completed, label: "End", hint: "The crew finishes successfully" },
  { value: END_TARGETS.failed, label: "End as failed", hint: "The crew fails" },
];

/** Agents that run in parallel, and the one that merges their results. */
export function GroupsEditor({ crew, agents, onChange }: PatternEditorProps) {
  const groups = groupsOf(crew);
  const name = freshId("group_1", new Set(groups.map((group) => group.name)));
  return (
    <RowList
      label="Groups"
      hint="Agents in a group work in parallel; a coordinator combines their work"
      items={groups}
      addLabel="Add group"
      newItem={(): GroupDraft => ({
        name,
        agents: agents.slice(0, 1).map(({ value }) => value),
        sync_points: [],
      })}
      onItemsChange={(next) => onChange(withGroups(crew, next))}
      removeLabel={(group, at) => `Remove group ${group.name || at + 1}`}
    >
      {(group, at, remove, set) => (
        <>
          <div className="flex items-end gap-2">
            <TextField
              label={`Group ${at + 1}: name`}
              value={group.name}
              onValueChange={(next) => set({ ...group, name: next })}
              error={group.name.trim() === "" ? "A group needs a name." : undefined}
              fieldClassName="flex-1"
            />
            {remove}
          </div>
          <CheckboxGroup
            label="Agents"
            error={group.agents.length === 0 ? "A group needs at least one agent." : undefined}
            className="flex flex-col gap-1.5"
            options={agents.map(({ value }) => ({ value, label: value }))}
            value={group.agents}
            onValueChange={(members) => set({ ...group, agents: members })}
          />
          <Select
            label="Coordinator"
            options={[{ value: NOBODY, label: "None" }, ...agents]}
            value={group.coordination_agent ?? NOBODY}
            onValueChange={(id) => set({ ...group, coordination_agent: id === NOBODY ? undefined : id })}
          />
          <TextField
            label="Sync points"
            aside="Optional"
            value={group.sync_points.join(", ")}
            onValueChange={(text) => set({ ...group, sync_points: text === "" ? [] : text.split(/,\s?/) })}
            hint="Comma-separated task tags; tasks with the same tag wait for each other"
          />
        </>
      )}
    </RowList>
  );
}

/** Steps of agents, each with its next step by outcome. */
export function StepsEditor({ crew, agents, onChange }: PatternEditorProps) {
  const steps = stepsOf(crew);
  const write = (next: StepDraft[]) => onChange(withSteps(crew, next));
  const rename = (at: number, to: string) => {
    const from = steps[at]?.step;
    write(
      steps.map((step, place) => ({
        ...step,
        step: place === at ? to : step.step,
        outcomes: step.outcomes.map((exit) => (exit.target === from ? { ...exit, target: to } : exit)),
      })),
    );
  };
  const fresh = freshId("step_1", new Set(steps.map(({ step }) => step)));
  return (
    <RowList
      label="Steps"
      hint="Runs from the first step until a step has no next step"
      error={steps.length === 0 ? "Add the first step." : undefined}
      items={steps}
      addLabel="Add step"
      newItem={() => ({ step: fresh, agent: agents[0]?.value ?? "", description: "", outcomes: [] })}
      onItemsChange={write}
      removeLabel={({ step }, at) => `Remove step ${step || at + 1}`}
    >
      {(step, at, remove, set) => (
        <>
          <div className="flex items-end gap-2">
            <DraftField
              label={`Step ${at + 1}: name`}
              value={step.step}
              check={(name) =>
                name.trim() === ""
                  ? "A step needs a name."
                  : steps.some((other, place) => place !== at && other.step === name)
                    ? "Another step has this name."
                    : null
              }
              onCommit={(name) => rename(at, name)}
              fieldClassName="flex-1"
            />
            {remove}
          </div>
          <Select
            label={`Step ${at + 1}: agent`}
            options={agents}
            value={step.agent || null}
            onValueChange={(agent) => set({ ...step, agent })}
            error={step.agent === "" ? "A step needs an agent." : undefined}
          />
          <TextArea
            label="What to do"
            aside="Optional"
            rows={1}
            value={step.description}
            onValueChange={(description) => set({ ...step, description })}
          />
          <Outcomes
            step={step}
            targets={[
              ...steps
                .filter((other) => other.step !== "")
                .map((other) => ({ value: other.step, label: other.step })),
              ...agents.filter(
                ({ value }) =>
                  steps.filter(({ agent }) => agent === value).length === 1 &&
                  !steps.some((other) => other.step === value),
              ),
              ...ENDS,
              ...namedEnds(steps),
            ]}
            meaning={(target) => meantBy(target, steps)}
            onChange={(outcomes) => set({ ...step, outcomes })}
          />
        </>
      )}
    </RowList>
  );
}

/** Named ends that steps lead to. */
function namedEnds(steps: readonly StepDraft[]) {
  const targets = new Set(steps.flatMap(({ outcomes }) => outcomes.map(({ target }) => target)));
  return [...targets].flatMap((target) => {
    const found = targetOf(target, steps);
    return "end" in found && found.name !== target
      ? [
          {
            value: target,
            label: found.name,
            hint: found.end === "failed" ? "The crew fails" : "The crew finishes successfully",
          },
        ]
      : [];
  });
}

/** The option for a target: all names of an end share one. Null if it leads nowhere. */
function meantBy(target: string, steps: readonly StepDraft[]): string | null {
  const found = targetOf(target, steps);
  if ("nobody" in found) return null;
  return "end" in found && found.name === target ? END_TARGETS[found.end] : target;
}

function Outcomes({
  step,
  targets,
  meaning,
  onChange,
}: {
  step: StepDraft;
  targets: readonly { value: string; label: string }[];
  meaning: (target: string) => string | null;
  onChange: (outcomes: StepDraft["outcomes"]) => void;
}) {
  const { outcomes } = step;
  const fresh = freshId("done", new Set(outcomes.map(({ outcome }) => outcome)));
  return (
    <Field label="Next steps" group>
      <ul className="flex flex-col gap-2">
        {outcomes.map(({ outcome, target }, at) => (
          <li key={at} className="flex items-start gap-1.5">
            <DraftField
              label={`Outcome ${at + 1} of ${step.step}`}
              hideLabel
              value={outcome}
              check={(word) =>
                !/^[A-Za-z0-9_ -]+$/.test(word)
                  ? "Use only letters, digits, spaces, _ and -."
                  : outcomes.some((other, place) => place !== at && other.outcome === word)
                    ? "Another outcome has this name."
                    : null
              }
              onCommit={(word) =>
                onChange(outcomes.map((other, place) => (place === at ? { ...other, outcome: word } : other)))
              }
              fieldClassName="w-28 shrink-0"
            />
            <ArrowRight aria-hidden className="mt-2 size-4 shrink-0 text-ink-3" />
            <Select
              label={`After ${outcome} of ${step.step}`}
              hideLabel
              options={targets}
              value={meaning(target)}
              placeholder={target ? `“${target}” doesn't exist` : "Choose…"}
              onValueChange={(next) =>
                onChange(outcomes.map((other, place) => (place === at ? { ...other, target: next } : other)))
              }
              fieldClassName="flex-1"
            />
            <IconButton
              size="sm"
              plain
              variant="danger"
              label={`Remove outcome ${outcome} (${step.step})`}
              icon={<X aria-hidden />}
              onClick={() => onChange(outcomes.filter((_, place) => place !== at))}
            />
          </li>
        ))}
      </ul>
      <Button
        size="sm"
        variant="ghost"
        icon={<Plus aria-hidden />}
        className="self-start"
        disabled={targets.length === 0}
        onClick={() => onChange([...outcomes, { outcome: fresh, target: targets[0]?.value ?? "" }])}
      >
        Add outcome
      </Button>
    </Field>
  );
}
