"use client";

import { Plus, Trash2 } from "lucide-react";
import { estimateInWords } from "@/components/display/estimate-words";
import { RoleFace } from "@/components/display/role-face";
import {
  AgentChoice,
  type AgentListed,
  AgentReading,
  agentOptions,
  useLibraryAgents,
} from "@/components/forms/agent-choice";
import { LlmField } from "@/components/forms/llm-field";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { NumberField } from "@/components/ui/number-field";
import { Picker } from "@/components/ui/picker";
import { FoldedRow } from "@/components/ui/row-list";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import type { AgentConfig, LlmConfig } from "@/server/domain/agent/role";
import { type CrewConfig, CrewProcess } from "@/server/domain/crew/crew";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { asMember } from "@/server/domain/library/agent-use";
import { ASSUMPTIONS, estimateCrew } from "@/server/domain/library/estimate";
import { AgentForm, MemberFields, type MemberFieldsProps } from "./agent-form";
import { groupsOf, newAgent, newMember, removeAgent, renameAgent, stepsOf } from "./crew-changes";
import { CrewQuestionFields } from "./crew-questions";
import { useCreate } from "./library-sheets";
import { GroupsEditor, type PatternEditorProps, StepsEditor } from "./pattern-editor";
import { type Faces, roleOptions } from "./role-field";

export interface CrewFormProps {
  crew: CrewConfig;
  roles: Faces;
  /** What is wrong with it. */
  error?: string | undefined;
  onChange: (crew: CrewConfig) => void;
  /** The last agent was removed. Left out: the last one cannot be. */
  onEmpty?: () => void;
}

const PROCESSES = CrewProcess.options.map((value) => ({
  value,
  label: CREW_PROCESSES[value].title,
  hint: CREW_PROCESSES[value].sentence,
}));

/** A crew: who is in it, how they work together, and the settings that matter for that way. */
export function CrewForm({ crew, roles, error, onChange, onEmpty }: CrewFormProps) {
  const set = (change: Partial<CrewConfig>) => onChange({ ...crew, ...change });
  const library = useLibraryAgents();
  const rolesByName = new Map(roles.map((role) => [role.name, role]));
  const agents = crew.agents.map(({ agent_id, role_name }) => ({
    value: agent_id,
    label: agent_id,
    hint: role_name,
  }));
  return (
    <div className="flex flex-col gap-5">
      <Select
        label="How they work"
        options={PROCESSES}
        value={crew.process}
        onValueChange={(process) => set({ process })}
        hint={PROCESSES.find(({ value }) => value === crew.process)?.hint}
      />
      <CrewEstimate crew={crew} />
      <Field label="Agents" error={error} group>
        <ul aria-label="Agents" className="flex flex-col gap-2">
          {crew.agents.map((agent, at) => (
            // The place, not the id: the id changes while it is typed.
            <li key={at}>
              <FoldedRow
                label={agent.agent_id}
                summary={
                  <>
                    <RoleFace
                      name={agent.role_name}
                      color={rolesByName.get(agent.role_name)?.color}
                      icon={rolesByName.get(agent.role_name)?.icon}
                      size={22}
                    />
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
      <ProcessSettings crew={crew} agents={agents} set={set} onChange={onChange} />
      <Unfollowed crew={crew} agents={agents} onChange={onChange} />
      <Switch
        label="Delegates keep their tools"
        hint="Off: who works for another has only the tools that both roles may use"
        checked={crew.delegate_tools === "own"}
        onCheckedChange={(isOwn) => set({ delegate_tools: isOwn ? "own" : "shared" })}
      />
      <Switch
        label="May remember"
        hint="Off: without the memory tools, though roles name them"
        checked={crew.memory}
        onCheckedChange={(memory) => set({ memory })}
      />
      <CrewQuestionFields crew={crew} onChange={onChange} />
    </div>
  );
}

/** A member: either with settings of its own, or an agent of the library. */
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
      own="Settings of its own"
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
      <Disclosure look="box" title="More">
        <MemberFields {...member} isHandoffOpen={!isBound} />
      </Disclosure>
    </div>
  );
}

/** Adds an agent by the role it has, or one of the library. */
export function AddAgent({
  roles,
  others,
  onAdd,
}: {
  roles: CrewFormProps["roles"];
  /** Who is there already. */
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
        Add an agent
      </Button>
    );
  // Roles and agents may share a word.
  const AGENT = "agent ";
  return (
    <Picker
      label="Add an agent"
      hideLabel
      placeholder="Add an agent…"
      searchPlaceholder="Search roles and agents…"
      create={create && { ...create, label: (text) => (text ? `Create the role “${text}”…` : "New role…") }}
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

/** What one goal of this crew will roughly take, without its plan and its roles' own sizes. */
function CrewEstimate({ crew }: { crew: CrewConfig }) {
  const estimated = estimateCrew(crew, undefined, () => undefined);
  return (
    <Disclosure title="Roughly" aside={estimateInWords(estimated)}>
      <p className="text-[13px] text-ink-2">
        For one goal: {estimated.basis}. Roles are taken to be of usual length; the run’s own sheet counts
        with its plan, its roles and prices.
      </p>
      <p className="pt-1 text-xs text-ink-3">{ASSUMPTIONS}</p>
    </Disclosure>
  );
}

/** Groups and steps that the way of working leaves aside: a problem names them, and here they are taken out. */
function Unfollowed({ crew, ...rest }: PatternEditorProps) {
  const { process } = crew;
  return (
    <>
      {process !== "parallel" && groupsOf(crew).length > 0 ? <GroupsEditor crew={crew} {...rest} /> : null}
      {process !== "custom" && stepsOf(crew).length > 0 ? <StepsEditor crew={crew} {...rest} /> : null}
    </>
  );
}

interface SettingsProps {
  crew: CrewConfig;
  agents: readonly { value: string; label: string; hint: string }[];
  set: (change: Partial<CrewConfig>) => void;
  onChange: (crew: CrewConfig) => void;
}

const NOBODY = "(automatic)";

function ProcessSettings(props: SettingsProps) {
  const { crew, agents, set, onChange } = props;
  switch (crew.process) {
    case "sequential":
    case "parallel":
      return (
        <>
          <Switch
            label="Plan the work first"
            hint="The planner writes a plan, also where one is given"
            checked={crew.planning}
            onCheckedChange={(planning) => set({ planning })}
          />
          <OnFailure {...props} />
          {crew.process === "parallel" ? (
            <NumberField
              label="At the same time"
              min={1}
              max={16}
              value={crew.max_parallel}
              onValueChange={(max_parallel) => set({ max_parallel: max_parallel ?? 3 })}
              hint="At most so many tasks run at once"
            />
          ) : null}
          <Disclosure look="box" title="More">
            <ManagerField {...props} label="Planner" />
            {crew.process === "parallel" ? (
              <GroupsEditor crew={crew} agents={agents} onChange={onChange} />
            ) : null}
          </Disclosure>
        </>
      );
    case "hierarchical":
      return (
        <>
          <ManagerField {...props} label="Manager" />
          <NumberField
            label="Most rounds"
            min={1}
            max={200}
            value={crew.max_rounds}
            onValueChange={(max_rounds) => set({ max_rounds: max_rounds ?? 12 })}
            hint="In each round the manager sends one message"
          />
          <Disclosure look="box" title="More">
            <NumberField
              label="Rounds without progress"
              min={1}
              max={50}
              value={crew.max_stalls}
              onValueChange={(max_stalls) => set({ max_stalls: max_stalls ?? 3 })}
              hint="After so many, the manager makes a new plan"
            />
            <MostReplans {...props} />
          </Disclosure>
        </>
      );
    case "swarm":
      return (
        <>
          <Select
            label="Begins with"
            options={[{ value: NOBODY, label: "The first agent" }, ...agents]}
            value={crew.entry_agent ?? NOBODY}
            onValueChange={(id) => {
              const { entry_agent: _old, ...rest } = crew;
              onChange(id === NOBODY ? rest : { ...rest, entry_agent: id });
            }}
          />
          <NumberField
            label="Most handovers"
            min={0}
            max={200}
            value={crew.max_handoffs}
            onValueChange={(max_handoffs) => set({ max_handoffs: max_handoffs ?? 12 })}
          />
        </>
      );
    case "consensus":
      return <ConsensusFields {...props} />;
    case "sample":
      return (
        <NumberField
          label="Answers"
          min={2}
          max={15}
          value={crew.samples}
          onValueChange={(samples) => set({ samples: samples ?? 5 })}
          hint="So often the first agent answers; what most answers agree on stands"
        />
      );
    case "custom":
      return (
        <>
          <StepsEditor crew={crew} agents={agents} onChange={onChange} />
          <NumberField
            label="Most steps"
            min={1}
            max={500}
            value={crew.max_rounds}
            onValueChange={(max_rounds) => set({ max_rounds: max_rounds ?? 12 })}
            hint="Steps that come round again count each time"
          />
        </>
      );
  }
}

function OnFailure({ crew, set }: SettingsProps) {
  return (
    <>
      <Select
        label="When a task fails"
        options={[
          { value: "stop", label: "Stop the crew" },
          { value: "continue_independent", label: "Go on with what does not need it" },
          { value: "replan", label: "Plan anew" },
          { value: "escalate", label: "Ask a person" },
        ]}
        value={crew.on_task_failure}
        onValueChange={(on_task_failure) => set({ on_task_failure })}
      />
      {crew.on_task_failure === "replan" ? <MostReplans crew={crew} set={set} /> : null}
    </>
  );
}

function MostReplans({ crew, set }: Pick<SettingsProps, "crew" | "set">) {
  return (
    <NumberField
      label="Most new plans"
      min={0}
      max={20}
      value={crew.max_replans}
      onValueChange={(max_replans) => set({ max_replans: max_replans ?? 2 })}
    />
  );
}

/** Who leads, plans or chairs, with a model for that alone. */
function ManagerField({ crew, agents, onChange, label }: SettingsProps & { label: string }) {
  const write = (id: string | undefined, llm: LlmConfig | undefined) => {
    const { manager: _old, ...rest } = crew;
    onChange(
      id === undefined && llm === undefined
        ? rest
        : { ...rest, manager: { ...(id ? { agent_id: id } : {}), ...(llm ? { llm_config: llm } : {}) } },
    );
  };
  return (
    <>
      <Select
        label={label}
        options={[
          {
            value: NOBODY,
            label: "Chosen by role",
            hint: "A planner, manager or lead; else the first agent",
          },
          ...agents,
        ]}
        value={crew.manager?.agent_id ?? NOBODY}
        onValueChange={(id) => write(id === NOBODY ? undefined : id, crew.manager?.llm_config)}
      />
      <Disclosure look="box" title={`Model of the ${label.toLowerCase()}`}>
        <LlmField
          label={`Model of the ${label.toLowerCase()}`}
          hideLabel
          hint="For leading alone; else the agent’s own"
          value={crew.manager?.llm_config}
          onChange={(llm) => write(crew.manager?.agent_id, llm as LlmConfig | undefined)}
        />
      </Disclosure>
    </>
  );
}

function ConsensusFields(props: SettingsProps) {
  const { crew, set } = props;
  const { consensus } = crew;
  const change = (next: Partial<CrewConfig["consensus"]>) => set({ consensus: { ...consensus, ...next } });
  return (
    <>
      <Select
        label="It is decided by"
        options={[
          { value: "majority", label: "More than half" },
          { value: "two_thirds", label: "Two thirds" },
          { value: "unanimous", label: "All" },
          { value: "weighted", label: "Weights", hint: "More than half of the weights" },
        ]}
        value={consensus.rule}
        onValueChange={(rule) => change({ rule })}
      />
      {consensus.rule === "weighted" ? (
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
                  onValueChange={(weight) =>
                    change({ weights: { ...consensus.weights, [agent_id]: weight ?? 1 } })
                  }
                  fieldClassName="w-32"
                />
              </li>
            ))}
          </ul>
        </Field>
      ) : null}
      <Select
        label="When it stays open"
        options={[
          { value: "human", label: "Ask a person" },
          { value: "chair", label: "The chair decides" },
          { value: "reject", label: "It is rejected" },
        ]}
        value={consensus.tie}
        onValueChange={(tie) => change({ tie })}
      />
      <Disclosure look="box" title="More">
        <ManagerField {...props} label="Chair" />
        <NumberField
          label="Who must vote"
          unit="%"
          min={0}
          max={100}
          step={5}
          value={Math.round(consensus.quorum * 100)}
          onValueChange={(share) => change({ quorum: (share ?? 50) / 100 })}
          hint="At least this share, so that the vote counts"
        />
        <NumberField
          label="Rounds of voting"
          min={1}
          max={10}
          value={consensus.rounds}
          onValueChange={(rounds) => change({ rounds: rounds ?? 2 })}
          hint="After each that decides nothing, all see the reasons"
        />
      </Disclosure>
    </>
  );
}
