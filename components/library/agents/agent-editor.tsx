"use client";

import { useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { z } from "zod";
import type { AgentListed } from "@/components/forms/agent-choice";
import { AgentForm } from "@/components/forms/agent-form";
import { type LibraryCalls, NamedEditor } from "@/components/library/named-editor";
import { useTrpc, useTrpcClient } from "@/components/trpc";
import { AgentConfig, type RoleDefinition } from "@/server/domain/agent/role";

/** What a refused save tells of the version that stands there now. */
const Stale = z.object({
  reason: z.literal("stale"),
  current: z.object({ name: z.string(), agent: AgentConfig, revision: z.number() }),
});

export interface AgentEditorProps {
  saved: AgentListed | null;
  /** What a new one is called. */
  name?: string | undefined;
  roles: readonly RoleDefinition[];
}

/** An agent of the library: its name and its form. Mount it with a key of its id. */
export function AgentEditor({ saved, name = "", roles }: AgentEditorProps) {
  const calls = useAgentCalls();
  return (
    <NamedEditor<AgentConfig, AgentConfig>
      noun="agent"
      saved={saved && { ...saved, content: saved.agent }}
      // The id comes with the name, when it is created.
      initial={{ name, content: AgentConfig.parse({ agent_id: "agent", role_name: "" }) }}
      calls={calls}
      tidy={tidied}
      placeholder="Careful writer"
      nobody="No crew and no workflow names this agent. Add it to a crew, or choose it in an agent task."
      loss={
        saved?.used_by.some(({ kind }) => kind === "workflow")
          ? "may not run without it"
          : "will go on with the settings that it has now"
      }
    >
      {({ content: agent, set, wasTried }) => (
        <>
          <AgentForm
            agent={agent}
            roles={roles}
            roleError={wasTried && agent.role_name === "" ? "Choose the role that it has." : undefined}
            onChange={set}
          />
          {agent.role_name !== "" && !roles.some((role) => role.name === agent.role_name) ? (
            <p className="flex gap-2 text-[13px]">
              <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
              {`It has the role “${agent.role_name}”, which does not exist. Choose another.`}
            </p>
          ) : null}
        </>
      )}
    </NamedEditor>
  );
}

function tidied(agent: AgentConfig): AgentConfig | null {
  const read = AgentConfig.safeParse(agent);
  if (agent.role_name === "" || !read.success) return null;
  const { handoffs, ...rest } = read.data;
  const lines = handoffs?.map((line) => line.trim()).filter((line) => line !== "");
  return { ...rest, ...(lines ? { handoffs: lines } : {}) };
}

function useAgentCalls(): LibraryCalls<AgentConfig> {
  const trpc = useTrpc();
  const { agents } = useTrpcClient();
  const queryClient = useQueryClient();
  return {
    create: ({ name, content }) => agents.create.mutate({ name, agent: content }),
    save: ({ content, ...rest }) => agents.save.mutate({ ...rest, agent: content }),
    duplicate: (id) => agents.duplicate.mutate({ id }),
    restore: ({ name, content }) => agents.restore.mutate({ name, agent: content }),
    remove: (id, force) => agents.remove.mutate({ id, force }),
    file: (id, format) => agents.export.query({ ids: [id], format }),
    refresh: () => {
      // Crews show the settings of their members.
      void queryClient.invalidateQueries(trpc.crews.pathFilter());
      return queryClient.invalidateQueries(trpc.agents.pathFilter());
    },
    theirs: (detail) => {
      const stale = Stale.safeParse(detail);
      if (!stale.success) return null;
      const { agent, ...current } = stale.data.current;
      return { ...current, content: agent };
    },
  };
}
