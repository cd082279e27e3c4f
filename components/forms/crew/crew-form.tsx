"use client";

import { Plus, Trash2 } from "lucide-react";
import { formatEstimate } from "@/components/display/format-estimate";
import { FaceOfRole } from "@/components/display/role-face";
import {
  AgentChoice,
  type AgentListed,
  AgentReading,
  agentOptions,
  useLibraryAgents,
} from "@/components/forms/fields/agent-choice";
import { LlmField } from "@/components/forms/fields/llm-field";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { NumberField } from "@/components/ui/input/number-field";
import { Picker } from "@/components/ui/input/picker";
import { Select } from "@/components/ui/input/select";
import { FoldedRow } from "@/components/ui/row-list";
import { ON_LIMITS } from "@/server/domain/agent/on-limit";
import type { AgentConfig, LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { CREW_FORM } from "@/server/domain/crew/crew-form";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { asMember } from "@/server/domain/library/agent-use";
import { ASSUMPTIONS, estimateCrew } from "@/server/domain/library/estimate";
import { CREW_QUESTION_FIELDS } from "@/server/domain/nodes/asking/question-terms";
import { AgentForm, MemberFields, type MemberFieldsProps } from "../agent-form";
import { type Faces, roleOptions } from "../fields/role-field";
import { FormParts } from "../form-parts";
import { useCreate } from "../library-sheets";
import { groupsOf, managerOf, newAgent, newMember, removeAgent, renameAgent, stepsOf } from "./crew-changes";
import { GroupsEditor, type PatternEditorProps, StepsEditor } from "./pattern-editor";

export interface CrewFormProps {
  crew: CrewConfig;
  roles: Faces;
  /** Errors by field. */
  error?: string | undefined;
  onChange: (crew: CrewConfig) => void;
  /** Called when the last agent is removed. If absent, it cannot be removed. */
  onEmpty?: () => void;
}

/** A crew: its members, process, and the settings of that process. */
export function CrewForm(props: CrewFormProps) {
  const { crew, onChange } = props;
  const agents = crew.agents.map(({ agent_id, role_name }) => ({
    value: agent_id,
    label: agent_id,
    hint: role_name,
  }));
  const some = { crew, agents, onChange };
  return (
    <div className="flex flex-col gap-5">
      <FormParts
        parts={CREW_FORM}
        value={crew}
        onChange={onChange}
        now={{
          process: { hint: CREW_PROCESSES[crew.process].sentence },
          entry_agent: { options: agents },
        }}
        slots={{
          estimate: <CrewEstimate crew={crew} />,
          agents: <Agents {...props} />,
          planner: <ManagerField {...some} label="Planner" />,
          manager: <ManagerField {...some} label="Manager" />,
          chair: <ManagerField {...some} label="Chair" />,
          weights: <WeightsField crew={crew} onChange={onChange} />,
          groups: <GroupsEditor {...some} />,
          steps: <StepsEditor {...some} />,
          unfollowed: <Unfollowed {...some} />,
          questions: <FormParts parts={CREW_QUESTIONS} value={crew} onChange={onChange} />,
        }}
      />
    </div>
  );
}

/** When a crew asks people, and whether it does at the limits of a run. */
const CREW_QUESTIONS: readonly FormPart<CrewConfig>[] = [
  {
    as: "box",
    title: "Questions for people",
    parts: [
      { text: "Applies to result reviews, task approvals, ties and failed tasks." },
      ...CREW_QUESTION_FIELDS.map(({ key, showIf: _showIf, usual: _usual, ...field }) => ({
        ...field,
        key: `questions.${key}` as const,
      })),
      {
        key: "on_limit",
        label: "On run limit",
        as: "choice",
        unset: "Inherit from role or run",
        options: choicesOf(ON_LIMITS),
      },
    ],
  },
];

function Agents({ crew, roles, error, onChange, onEmpty }: CrewFormProps) {
  const set = (change: Partial<CrewConfig>) => onChange({ ...crew, ...change });
  const library = useLibraryAgents();
  return (
    <Field label="Agents" error={error} group>
      <ul aria-label="Agents" className="flex flex-col gap-2">
        {crew.agents.map((agent, at) => (
          // Not the id, which changes while it is typed.
          <li key={at}>
            <FoldedRow
              label={agent.agent_id}
              summary={
                <>
                  <FaceOfRole roles={roles} name={agent.role_name} size={22} />
                  <span className="min-w-0 flex-[1_0_auto] truncate font-medium">
                    {library.find(({ id }) => id === agent.agent_ref)?.name ??
                      (agent.role_name || "No role yet")}
                  </span>
                  <code className="min-w-0 shrink truncate font-mono text-xs text-ink-3">
                    {agent.agent_id}
                  </code>
                </>
              }
              remove={
                crew.agents.length > 1 || onEmpty ? (
                  <IconButton
                    label={`Remove ${agent.role_name} (${agent.agent_id})`}
                    size="sm"
                    variant="danger"
                    icon={<Trash2 aria-hidden />}
                    onClick={() => {
                      const next = removeAgent(crew, agent.agent_id);
                      if (next) onChange(next);
                      else onEmpty?.();
                    }}
                  />
                ) : null
              }
            >
              <MemberForm
                agent={agent}
                others={crew.agents.filter((_, other) => other !== at).map(({ agent_id }) => agent_id)}
                process={crew.process}
                roles={roles}
                library={library}
                onChange={(next) =>
                  set({ agents: crew.agents.map((old, place) => (place === at ? next : old)) })
                }
                onRename={(id) => onChange(renameAgent(crew, agent.agent_id, id))}
              />
            </FoldedRow>
          </li>
        ))}
      </ul>
      <AddAgent
        roles={roles}
        others={crew.agents}
        onAdd={(agent) => set({ agents: [...crew.agents, agent] })}
      />
    </Field>
  );
}

/** A member with its own settings, or a library agent. */
function MemberForm({
  library,
  roles,
  ...member
}: MemberFieldsProps & { library: readonly AgentListed[]; roles: CrewFormProps["roles"] }) {
  const { agent, onChange } = member;
  const isBound = library.find(({ id }) => id === agent.agent_ref)?.agent.handoffs !== undefined;
  const choose = (
    <AgentChoice
      library={library}
      roles={roles}
      value={agent.agent_ref}
      own="Custom settings"
      onChoose={(found) => {
        const { agent_ref: _old, ...own } = agent;
        onChange(found ? asMember({ ...agent, agent_ref: found.id }, found.agent) : own);
      }}
    />
  );
  if (agent.agent_ref === undefined)
    return (
      <AgentForm agent={agent} member={member} roles={roles} onChange={onChange}>
        {choose}
      </AgentForm>
    );
  return (
    <div className="flex flex-col gap-3">
      {choose}
      <AgentReading agent={agent} id={agent.agent_ref} library={library} roles={roles} />
      <Disclosure variant="box" title="More">
        <MemberFields {...member} isHandoffOpen={!isBound} />
      </Disclosure>
    </div>
  );
}

/** Adds an agent by role, or from the library. */
export function AddAgent({
  roles,
  others,
  onAdd,
}: {
  roles: CrewFormProps["roles"];
  /** The current members. */
  others: readonly AgentConfig[];
  onAdd: (agent: AgentConfig) => void;
}) {
  const library = useLibraryAgents();
  const create = useCreate("role", (name) => onAdd(newAgent(name, others)));
  if (roles.length === 0 && library.length === 0 && !create)
    return (
      <Button
        size="sm"
        icon={<Plus aria-hidden />}
        className="self-start"
        onClick={() => onAdd(newAgent("Agent", others))}
      >
        Add agent
      </Button>
    );
  // Roles and agents may share a name.
  const AGENT = "agent ";
  return (
    <Picker
      label="Add agent"
      hideLabel
      placeholder="Add agent…"
      searchPlaceholder="Search roles and agents…"
      create={create && { ...create, label: (text) => (text ? `Create role “${text}”…` : "New role…") }}
      options={[
        ...roleOptions(roles, ""),
        ...agentOptions(library, roles).map((option) => ({
          ...option,
          value: AGENT + option.value,
          hint: `${option.hint}, from the library`,
        })),
      ]}
      value={null}
      onValueChange={(value) => {
        const found = library.find(({ id }) => AGENT + id === value);
        onAdd(found ? newMember(found.agent, others) : newAgent(value, others));
      }}
    />
  );
}

/** A rough estimate per goal, without the plan and the prompts of the roles. */
function CrewEstimate({ crew }: { crew: CrewConfig }) {
  const estimated = estimateCrew(crew, undefined, () => undefined);
  return (
    <Disclosure title="Estimate" aside={formatEstimate(estimated)}>
      <p className="text-[13px] text-ink-2">
        For one goal: {estimated.basis}. Assumes role prompts of typical length. The estimate in the run
        dialog uses the actual plan, roles and prices.
      </p>
      <p className="pt-1 text-xs text-ink-3">{ASSUMPTIONS}</p>
    </Disclosure>
  );
}

/** Groups and steps that the process ignores, with buttons to remove them. */
function Unfollowed({ crew, ...rest }: PatternEditorProps) {
  const { process } = crew;
  return (
    <>
      {process !== "parallel" && groupsOf(crew).length > 0 ? <GroupsEditor crew={crew} {...rest} /> : null}
      {process !== "custom" && stepsOf(crew).length > 0 ? <StepsEditor crew={crew} {...rest} /> : null}
    </>
  );
}

const NOBODY = "(automatic)";

/** The manager, planner or chair, with an optional model for that part. */
function ManagerField({ crew, agents, onChange, label }: PatternEditorProps & { label: string }) {
  const write = (id: string | undefined, llm: LlmConfig | undefined) => {
    const { manager: _old, ...rest } = crew;
    onChange({ ...rest, ...defined({ manager: managerOf(id, llm) }) });
  };
  return (
    <>
      <Select
        label={label}
        options={[
          {
            value: NOBODY,
            label: "Chosen by role",
            hint: "A planner, manager or lead, otherwise the first agent",
          },
          ...agents,
        ]}
        value={crew.manager?.agent_id ?? NOBODY}
        onValueChange={(id) => write(id === NOBODY ? undefined : id, crew.manager?.llm_config)}
      />
      <Disclosure variant="box" title={`${label} model`}>
        <LlmField
          label={`${label} model`}
          hideLabel
          hint="Used only for this function; defaults to the agent's model"
          value={crew.manager?.llm_config}
          onChange={(llm) => write(crew.manager?.agent_id, llm)}
        />
      </Disclosure>
    </>
  );
}

/** The voting weights. */
function WeightsField({ crew, onChange }: Pick<CrewFormProps, "crew" | "onChange">) {
  const { consensus } = crew;
  return (
    <Field label="Weights" group>
      <ul className="flex flex-col gap-2">
        {crew.agents.map(({ agent_id }) => (
          <li key={agent_id} className="flex items-center gap-3">
            <code className="min-w-0 flex-1 truncate font-mono text-xs">{agent_id}</code>
            <NumberField
              label={`Weight of ${agent_id}`}
              hideLabel
              min={0}
              step={1}
              value={consensus.weights[agent_id] ?? 1}
              onValueChange={(weight) => {
                const weights = { ...consensus.weights, [agent_id]: weight ?? 1 };
                onChange({ ...crew, consensus: { ...consensus, weights } });
              }}
              fieldClassName="w-32"
            />
          </li>
        ))}
      </ul>
    </Field>
  );
}
