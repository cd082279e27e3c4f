"use client";

import type { ReactNode } from "react";
import { DraftField } from "@/components/forms/draft-field";
import { LlmField } from "@/components/forms/llm-field";
import { Checkbox } from "@/components/ui/checkbox";
import { Disclosure } from "@/components/ui/disclosure";
import { Field } from "@/components/ui/field";
import { ListEditor } from "@/components/ui/list-editor";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import { TextArea } from "@/components/ui/text-area";
import { MEMORY_SCOPES, MemoryScope } from "@/server/domain/agent/memory-scope";
import type { AgentConfig, LlmConfig } from "@/server/domain/agent/role";
import { Id } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import { type Faces, RolePicker } from "./role-field";

export interface AgentFormProps {
  agent: AgentConfig;
  /** Where it is a member of a crew. */
  member?: MemberFieldsProps;
  roles: Faces;
  roleError?: string | undefined;
  /** What stands below the role. */
  children?: ReactNode;
  onChange: (agent: AgentConfig) => void;
}

export interface MemberFieldsProps {
  agent: AgentConfig;
  /** The ids of the other agents of its crew. */
  others: readonly string[];
  process: CrewProcess;
  /** False: its agent of the library says already whom it may hand over to. */
  isHandoffOpen?: boolean;
  onChange: (agent: AgentConfig) => void;
  onRename: (id: string) => void;
}

/** One agent: its role, its story and its model; its limits under More. */
export function AgentForm({ agent, member, roles, roleError, children, onChange }: AgentFormProps) {
  const set = (change: Partial<AgentConfig>) => onChange({ ...agent, ...change });
  const { context } = agent;
  return (
    <div className="flex flex-col gap-3">
      <RolePicker
        label="Role"
        error={roleError}
        roles={roles}
        value={agent.role_name}
        onChange={(role_name) => set({ role_name })}
      />
      {children}
      <TextArea
        label="Backstory"
        aside="Optional"
        rows={2}
        value={agent.backstory ?? ""}
        onValueChange={(text) => {
          const { backstory: _old, ...rest } = agent;
          onChange(text === "" ? rest : { ...rest, backstory: text });
        }}
      />
      <LlmField
        label="Model"
        value={agent.llm_config}
        onChange={(llm) => {
          const { llm_config: _old, ...rest } = agent;
          onChange(llm === undefined ? rest : { ...rest, llm_config: llm as LlmConfig });
        }}
      />
      <Switch
        label="May delegate"
        hint={
          member
            ? "It can ask coworkers, and give them tasks"
            : "In a crew it can ask coworkers, and give them tasks"
        }
        checked={agent.allow_delegation}
        onCheckedChange={(allow_delegation) => set({ allow_delegation })}
      />
      <Disclosure look="box" title="More">
        {member ? <MemberFields {...member} /> : <HandoffNames agent={agent} onChange={onChange} />}
        <Select
          label="How it calls tools"
          options={[
            { value: "auto", label: "As its model can" },
            { value: "native", label: "As functions" },
            { value: "text", label: "As text" },
            { value: "none", label: "Not at all" },
          ]}
          value={agent.tool_protocol}
          onValueChange={(tool_protocol) => set({ tool_protocol })}
        />
        <div className="grid grid-cols-1 gap-3 @xs:grid-cols-2">
          <NumberField
            label="Most turns"
            min={1}
            max={200}
            value={agent.max_iterations}
            onValueChange={(value) => set({ max_iterations: value ?? 10 })}
          />
          <NumberField
            label="Most time"
            unit="s"
            min={1}
            step={30}
            value={agent.max_execution_time_s}
            onValueChange={(value) => set({ max_execution_time_s: Math.round(value ?? 600) })}
          />
          <NumberField
            label="Calls a minute"
            min={1}
            placeholder="No limit"
            value={agent.max_rpm ?? null}
            onValueChange={(value) => {
              const { max_rpm: _old, ...rest } = agent;
              onChange(value === null ? rest : { ...rest, max_rpm: Math.round(value) });
            }}
          />
          <NumberField
            label="Tools at once"
            min={1}
            max={8}
            value={agent.tool_concurrency}
            onValueChange={(value) => set({ tool_concurrency: value ?? 4 })}
          />
          {agent.allow_delegation ? (
            <NumberField
              label="Delegation depth"
              min={0}
              max={5}
              value={agent.max_delegation_depth}
              onValueChange={(value) => set({ max_delegation_depth: value ?? 2 })}
            />
          ) : null}
        </div>
        <Field label="What it may remember and find" group>
          <ul className="grid grid-cols-2 gap-2">
            {MemoryScope.options.map((value) => (
              <li key={value}>
                <Checkbox
                  label={MEMORY_SCOPES[value].title}
                  checked={agent.memory_scopes.includes(value)}
                  onCheckedChange={(on) =>
                    set({
                      memory_scopes: MemoryScope.options.filter((scope) =>
                        scope === value ? on : agent.memory_scopes.includes(scope),
                      ),
                    })
                  }
                />
              </li>
            ))}
          </ul>
        </Field>
        <Field label="Long conversations" hint="When they grow too long, the middle is summed up" group>
          <div className="grid grid-cols-1 gap-3 @xs:grid-cols-2">
            <NumberField
              label="Sum up at"
              unit="%"
              min={10}
              max={100}
              step={5}
              value={Math.round(context.condense_at * 100)}
              onValueChange={(share) => set({ context: { ...context, condense_at: (share ?? 75) / 100 } })}
            />
            <NumberField
              label="Down to"
              unit="%"
              min={5}
              max={95}
              step={5}
              value={Math.round(context.target * 100)}
              onValueChange={(share) => set({ context: { ...context, target: (share ?? 50) / 100 } })}
            />
            <NumberField
              label="Keep the first"
              min={0}
              value={context.keep_first}
              onValueChange={(value) => set({ context: { ...context, keep_first: Math.round(value ?? 4) } })}
            />
            <NumberField
              label="Most messages"
              min={4}
              value={context.max_messages}
              onValueChange={(value) =>
                set({ context: { ...context, max_messages: Math.round(value ?? 80) } })
              }
            />
          </div>
        </Field>
      </Disclosure>
    </div>
  );
}

/** What the crew knows a member by, and to whom it may hand over. */
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
        label="Id"
        mono
        hint="Others name it by this word"
        value={agent.agent_id}
        check={(id) =>
          !Id.safeParse(id).success
            ? "Use letters, digits, _ . - and start with a letter."
            : others.includes(id)
              ? "Another agent has this id."
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

const withHandoffs = (
  { handoffs: _old, ...agent }: AgentConfig,
  handoffs: string[] | undefined,
): AgentConfig => (handoffs === undefined ? agent : { ...agent, handoffs });

/** In no crew yet, it may name whom it will meet by their roles. */
function HandoffNames({ agent, onChange }: Pick<AgentFormProps, "agent" | "onChange">) {
  return (
    <Field label="May hand over to" hint="In crews where the work is handed over" group>
      <Checkbox
        label="Everyone"
        checked={agent.handoffs === undefined}
        onCheckedChange={(all) => onChange(withHandoffs(agent, all ? undefined : []))}
      />
      {agent.handoffs ? (
        <ListEditor
          label="Names"
          hideLabel
          itemName="role or id"
          items={agent.handoffs}
          onItemsChange={(handoffs) => onChange(withHandoffs(agent, handoffs))}
        />
      ) : null}
    </Field>
  );
}

function Handoffs({ agent, others, onChange }: Pick<MemberFieldsProps, "agent" | "others" | "onChange">) {
  const write = (handoffs: string[] | undefined) => onChange(withHandoffs(agent, handoffs));
  return (
    <Field label="May hand over to" group>
      <div className="flex flex-col gap-2">
        <Checkbox
          label="Everyone"
          checked={agent.handoffs === undefined}
          onCheckedChange={(all) => write(all ? undefined : [...others])}
        />
        {agent.handoffs === undefined
          ? null
          : others.map((id) => (
              <Checkbox
                key={id}
                label={id}
                checked={agent.handoffs?.includes(id) ?? false}
                onCheckedChange={(on) =>
                  write(others.filter((other) => (other === id ? on : agent.handoffs?.includes(other))))
                }
              />
            ))}
      </div>
    </Field>
  );
}
