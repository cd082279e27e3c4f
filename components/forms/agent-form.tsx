"use client";

import type { ReactNode } from "react";
import { DraftField } from "@/components/forms/fields/draft-field";
import { LlmField } from "@/components/forms/fields/llm-field";
import { Checkbox } from "@/components/ui/input/checkbox";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { Field } from "@/components/ui/input/field";
import { ListEditor } from "@/components/ui/input/list-editor";
import { AGENT_FORM } from "@/server/domain/agent/agent-form";
import type { AgentConfig } from "@/server/domain/agent/role";
import { Id } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import { type Faces, RolePicker } from "./fields/role-field";
import { FormParts } from "./form-parts";

export interface AgentFormProps {
  agent: AgentConfig;
  /** Set for members of a crew. */
  member?: MemberFieldsProps;
  roles: Faces;
  roleError?: string | undefined;
  /** Shown below the role. */
  children?: ReactNode;
  onChange: (agent: AgentConfig) => void;
}

export interface MemberFieldsProps {
  agent: AgentConfig;
  /** The ids of the other agents of its crew. */
  others: readonly string[];
  process: CrewProcess;
  /** False if its library agent defines the handoffs. */
  isHandoffOpen?: boolean;
  onChange: (agent: AgentConfig) => void;
  onRename: (id: string) => void;
}

/** An agent's role, backstory and model, with its limits under More. */
export function AgentForm({ agent, member, roles, roleError, children, onChange }: AgentFormProps) {
  const { llm_config, ...modelless } = agent;
  return (
    <div className="flex flex-col gap-3">
      <FormParts
        parts={AGENT_FORM}
        value={agent}
        onChange={onChange}
        now={member ? { allow_delegation: { hint: "Can consult coworkers and delegate tasks" } } : {}}
        slots={{
          role: (
            <>
              <RolePicker
                label="Role"
                error={roleError}
                roles={roles}
                value={agent.role_name}
                onChange={(role_name) => onChange({ ...agent, role_name })}
              />
              {children}
            </>
          ),
          model: (
            <LlmField
              label="Model"
              value={llm_config}
              onChange={(llm) => onChange(llm === undefined ? modelless : { ...modelless, llm_config: llm })}
            />
          ),
          membership: member ? <MemberFields {...member} /> : <Handoffs agent={agent} onChange={onChange} />,
        }}
      />
    </div>
  );
}

/** A member's id, and to whom it may hand off. */
export function MemberFields({
  agent,
  others,
  process,
  isHandoffOpen = true,
  onChange,
  onRename,
}: MemberFieldsProps) {
  return (
    <>
      <DraftField
        label="ID"
        mono
        hint="Other agents reference it by this ID"
        value={agent.agent_id}
        check={(id) =>
          !Id.safeParse(id).success
            ? "Use only letters, digits, _, . and -. Start with a letter or _."
            : others.includes(id)
              ? "Another agent has this ID."
              : null
        }
        onCommit={(id) => {
          if (id !== agent.agent_id) onRename(id);
        }}
      />
      {process === "swarm" && others.length > 0 && isHandoffOpen ? (
        <Handoffs agent={agent} others={others} onChange={onChange} />
      ) : null}
    </>
  );
}

/** Handoff targets: members of the crew, or roles if the agent is in no crew. */
function Handoffs({
  agent,
  others,
  onChange,
}: {
  agent: AgentConfig;
  others?: readonly string[];
  onChange: (agent: AgentConfig) => void;
}) {
  const { handoffs, ...rest } = agent;
  const write = (next: string[]) => onChange({ ...rest, handoffs: next });
  return (
    <Field label="Handoff targets" hint={others ? undefined : "Only in swarm crews"} group>
      <Checkbox
        label="Everyone"
        checked={handoffs === undefined}
        onCheckedChange={(all) => (all ? onChange(rest) : write([...(others ?? [])]))}
      />
      {handoffs === undefined ? null : others ? (
        <CheckboxGroup
          label="Agents"
          hideLabel
          options={others.map((id) => ({ value: id, label: id }))}
          value={handoffs}
          onValueChange={write}
        />
      ) : (
        <ListEditor label="Names" hideLabel itemName="role or ID" items={handoffs} onItemsChange={write} />
      )}
    </Field>
  );
}
