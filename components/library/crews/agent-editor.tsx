"use client";

import { useQuery } from "@tanstack/react-query";
import { AgentForm } from "@/components/forms/agent-form";
import type { AgentListed } from "@/components/forms/fields/agent-choice";
import { LibraryEditor } from "@/components/library/library-editor";
import { NamedItemFields, namedCalls, namedItem, Remark } from "@/components/library/named-item";
import { useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";

interface NamedAgent {
  name: string;
  agent: AgentConfig;
}

const contentOf = ({ name, agent }: NamedAgent): NamedAgent => ({ name, agent });

/** Edits a library agent. Mount it with its id as key. `name`: that of a new agent. */
export function AgentEditor({ saved, name = "" }: { saved: AgentListed | null; name?: string | undefined }) {
  const roles = useQuery(useTrpc().roles.list.queryOptions()).data?.map(({ role }) => role) ?? [];
  // Crews show the settings of their members.
  const invalidate = useInvalidate("agents", "crews");
  const item = namedItem(saved, contentOf);
  return (
    <LibraryEditor<NamedAgent, NamedAgent>
      noun="agent"
      saved={item}
      // The id is derived from the name on creation.
      initial={{ name, agent: AgentConfig.parse({ agent_id: "agent", role_name: "" }) }}
      calls={namedCalls(useTrpcClient().agents, contentOf, invalidate)}
      tidy={tidied}
      loss={
        saved?.used_by.some(({ kind }) => kind === "workflow")
          ? "might not run without it"
          : "will keep its current settings"
      }
    >
      {(form) => {
        const { agent } = form.draft.content;
        return (
          <NamedItemFields
            form={form}
            saved={item}
            placeholder="Careful writer"
            unused="Not used by any crew or workflow. Add it to a crew or choose it in an agent task."
          >
            <AgentForm
              agent={agent}
              roles={roles}
              roleError={form.wasTried && agent.role_name === "" ? "Choose a role." : undefined}
              onChange={(next) => form.draft.set((before) => ({ ...before, agent: next }))}
            />
            {agent.role_name !== "" && !roles.some((role) => role.name === agent.role_name) ? (
              <Remark>{`Role “${agent.role_name}” doesn't exist. Choose another.`}</Remark>
            ) : null}
          </NamedItemFields>
        );
      }}
    </LibraryEditor>
  );
}

function tidied({ name, agent }: NamedAgent): NamedAgent | null {
  const { handoffs, ...rest } = agent;
  const lines = handoffs?.map((line) => line.trim()).filter((line) => line !== "");
  const { data } = AgentConfig.safeParse(defined({ ...rest, handoffs: lines }));
  return name.trim() === "" || agent.role_name === "" || !data ? null : { name: name.trim(), agent: data };
}
