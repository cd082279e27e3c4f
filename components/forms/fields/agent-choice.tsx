"use client";

import { useQuery } from "@tanstack/react-query";
import { countOf } from "@/components/display/format";
import { FaceOfRole } from "@/components/display/role-face";
import { type Answers, useTrpc, useTrpcClient } from "@/components/trpc";
import { Picker } from "@/components/ui/input/picker";
import type { AgentConfig } from "@/server/domain/agent/role";
import { isAgentNode } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { useCreate } from "../library-sheets";
import { type Faces, OpenInPlace } from "./role-field";

export type AgentListed = Answers["agents"]["list"][number];

const NONE: readonly AgentListed[] = [];

/** The library agents; empty while they load. */
export function useLibraryAgents(): readonly AgentListed[] {
  return useQuery(useTrpc().agents.list.queryOptions()).data ?? NONE;
}

/** Agents as options, with their roles. */
export function agentOptions(library: readonly AgentListed[], roles: Faces) {
  return library.map(({ id, name, agent }) => ({
    value: id,
    label: name,
    hint: agent.role_name || "No role yet",
    icon: <FaceOfRole roles={roles} name={agent.role_name} size={20} />,
  }));
}

const OWN = "(own)";

/** Picks a library agent, or none. Renders nothing if there are none. */
export function AgentChoice({
  library,
  roles,
  value,
  own,
  error,
  onChoose,
}: {
  library: readonly AgentListed[];
  roles: Faces;
  value: string | undefined;
  /** The label of the option without a library agent. */
  own: string;
  error?: string | undefined;
  onChoose: (agent: AgentListed | null) => void;
}) {
  const client = useTrpcClient();
  const create = useCreate("agent", (id) => {
    // The list is still being refetched, so fetch the new agent alone.
    void client.agents.get.query({ id }).then((made) => onChoose({ ...made, used_by: [] }));
  });
  if (library.length === 0 && value === undefined && !create) return null;
  const isMissing = value !== undefined && !library.some(({ id }) => id === value);
  return (
    <Picker
      label="Agent"
      error={error}
      searchPlaceholder="Search agents…"
      create={create}
      options={[
        { value: OWN, label: own },
        ...agentOptions(library, roles),
        ...(isMissing ? [{ value, label: value, hint: "Not in the library" }] : []),
      ]}
      value={value ?? OWN}
      onValueChange={(next) => {
        if (next === OWN) onChoose(null);
        const found = library.find(({ id }) => id === next);
        if (found) onChoose(found);
      }}
    />
  );
}

/** A read-only summary of a library agent. */
export function AgentReading({
  id,
  agent: copy,
  library,
  roles,
}: {
  id: string;
  roles: Faces;
  /** The copy in the workflow file. */
  agent: AgentConfig | undefined;
  library: readonly AgentListed[];
}) {
  const found = library.find((other) => other.id === id);
  const agent = found?.agent ?? copy;
  if (!agent)
    return <p className="text-[13px] text-failed">Agent “{id}” isn't in the library. Choose another.</p>;
  const about = [
    agent.llm_config?.model,
    `up to ${countOf(agent.max_iterations, "turn")}`,
    agent.allow_delegation ? "can delegate" : null,
  ].filter(Boolean);
  return (
    <div className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
      <p className="flex items-center gap-2 font-medium text-ink">
        <FaceOfRole roles={roles} name={agent.role_name} size={20} />
        {agent.role_name || "No role yet"}
      </p>
      {agent.backstory ? <p className="mt-1 line-clamp-3">{agent.backstory}</p> : null}
      <p className="mt-1 text-ink-3">{about.join(", ")}</p>
      {found ? (
        <OpenInPlace kind="agent" id={id} />
      ) : (
        <p className="mt-1">Not in the library. Runs use the copy in this workflow.</p>
      )}
    </div>
  );
}

/** Picks a library agent instead of a role. */
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
        own="Any agent with this role"
        error={error}
        onChoose={(agent) => onChange(agent?.id)}
      />
      {id === undefined ? null : <AgentReading id={id} agent={copy} library={library} roles={roles} />}
    </div>
  );
}
