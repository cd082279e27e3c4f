"use client";

import { AgentChoice, AgentReading, useLibraryAgents } from "@/components/forms/agent-choice";
import { isAgentNode } from "@/server/domain/nodes";
import type { FieldProps } from "./field-props";
import { useFormScope } from "./form-scope";

/** Which agent of the library does it, instead of a role alone. */
export function AgentRefField({ error, value, onChange }: FieldProps) {
  const { node, roles } = useFormScope();
  const library = useLibraryAgents();
  const id = typeof value === "string" && value !== "" ? value : undefined;
  const copy = isAgentNode(node) ? node.config.agent : undefined;
  return (
    <div className="flex flex-col gap-2">
      <AgentChoice
        library={library}
        roles={roles}
        value={id}
        own="Anyone with that role"
        error={error}
        onChoose={(agent) => onChange(agent?.id)}
      />
      {id === undefined ? null : <AgentReading id={id} agent={copy} library={library} roles={roles} />}
    </div>
  );
}
