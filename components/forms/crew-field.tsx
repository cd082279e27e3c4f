"use client";

import { Plus, Trash2 } from "lucide-react";
import { RoleFace } from "@/components/roles/role-face";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import { TextArea } from "@/components/ui/text-area";
import { CrewConfig } from "@/server/domain/crew";
import { freshId, toId } from "@/server/domain/ids";
import { AgentConfig } from "@/server/domain/role";
import type { FieldProps } from "./field-view";
import { useFormScope } from "./form-scope";
import { LlmField } from "./llm-field";

/** Who is in the crew, and how they share out the work. */
export function CrewField({ label, hint, error, value, onChange }: FieldProps) {
  const { roles } = useFormScope();
  const crew = (value ?? undefined) as CrewConfig | undefined;
  const agents = crew?.agents ?? [];
  const write = (next: AgentConfig[]) =>
    onChange(
      next.length === 0 ? undefined : crew ? { ...crew, agents: next } : CrewConfig.parse({ agents: next }),
    );
  const set = (at: number, patch: Partial<AgentConfig>) =>
    write(agents.map((agent, i) => (i === at ? { ...agent, ...patch } : agent)));
  const add = (role: string) => {
    const id = freshId(toId(role).toLowerCase() || "agent", new Set(agents.map(({ agent_id }) => agent_id)));
    write([...agents, AgentConfig.parse({ agent_id: id, role_name: role })]);
  };
  return (
    <Field label={label} hint={hint} error={error} group>
      {crew && (
        <div className="flex flex-col gap-3 pb-1">
          <SegmentedControl
            label="How they work"
            fill
            options={[
              { value: "sequential", label: "One after another" },
              { value: "parallel", label: "In parallel" },
              ...(crew.process === "sequential" || crew.process === "parallel"
                ? []
                : [{ value: crew.process, label: crew.process }]),
            ]}
            value={crew.process}
            onValueChange={(process) => onChange({ ...crew, process })}
          />
          <Switch
            label="Plan the work first"
            hint="The first agent writes a plan where none is given"
            checked={crew.planning}
            onCheckedChange={(planning) => onChange({ ...crew, planning })}
          />
        </div>
      )}
      <ul className="flex flex-col gap-2">
        {agents.map((agent, at) => (
          <li key={agent.agent_id} className="rounded-lg border border-line bg-bg">
            <details className="group/agent">
              <summary className="flex h-10 list-none items-center gap-2 px-2.5 text-sm [&::-webkit-details-marker]:hidden">
                <RoleFace
                  name={agent.role_name}
                  color={roles.find(({ name }) => name === agent.role_name)?.color}
                  icon={roles.find(({ name }) => name === agent.role_name)?.icon}
                  size={22}
                />
                <span className="min-w-0 flex-1 truncate font-medium">
                  {agent.role_name || "No role yet"}
                </span>
                <code className="truncate font-mono text-xs text-ink-3">{agent.agent_id}</code>
                <IconButton
                  label={`Remove ${agent.role_name} (${agent.agent_id})`}
                  size="sm"
                  variant="danger"
                  icon={<Trash2 aria-hidden />}
                  onClick={(event) => {
                    event.preventDefault();
                    write(agents.filter((_, i) => i !== at));
                  }}
                />
              </summary>
              <div className="flex flex-col gap-3 border-t border-line p-3">
                <Select
                  label="Role"
                  options={roleOptions(roles, agent.role_name)}
                  value={agent.role_name || null}
                  onValueChange={(role_name) => set(at, { role_name })}
                />
                <TextArea
                  label="Backstory"
                  aside="Optional"
                  rows={2}
                  value={agent.backstory ?? ""}
                  onValueChange={(text) => set(at, { backstory: text === "" ? undefined : text })}
                />
                <LlmField
                  label="Model"
                  value={agent.llm_config}
                  onChange={(llm_config) => set(at, { llm_config: llm_config as AgentConfig["llm_config"] })}
                />
              </div>
            </details>
          </li>
        ))}
      </ul>
      <AddAgent onAdd={add} />
    </Field>
  );
}

function AddAgent({ onAdd }: { onAdd: (role: string) => void }) {
  const { roles } = useFormScope();
  if (roles.length === 0)
    return (
      <Button size="sm" icon={<Plus aria-hidden />} className="self-start" onClick={() => onAdd("Agent")}>
        Add an agent
      </Button>
    );
  return (
    <Select
      label="Add an agent"
      hideLabel
      placeholder="Add an agent…"
      options={roleOptions(roles, "")}
      value={null}
      onValueChange={onAdd}
    />
  );
}

export function roleOptions(
  roles: readonly { name: string; color?: string | undefined; icon?: string | undefined }[],
  current: string,
) {
  const known = roles.map(({ name, color, icon }) => ({
    value: name,
    label: name,
    icon: <RoleFace name={name} icon={icon} color={color} size={20} />,
  }));
  return current && !roles.some(({ name }) => name === current)
    ? [...known, { value: current, label: current, hint: "There is no such role" }]
    : known;
}
