"use client";

import { useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { z } from "zod";
import { AddAgent, CrewForm } from "@/components/forms/crew/crew-form";
import { type LibraryCalls, NamedEditor } from "@/components/library/named-editor";
import { type Answers, useTrpc, useTrpcClient } from "@/components/trpc";
import { Field } from "@/components/ui/field";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewFaults } from "@/server/domain/crew/crew-faults";

export type CrewListed = Answers["crews"]["list"][number];

const Stale = z.object({
  reason: z.literal("stale"),
  current: z.object({ name: z.string(), crew: CrewConfig, revision: z.number() }),
});

export interface CrewEditorProps {
  saved: CrewListed | null;
  /** What a new one is called. */
  name?: string | undefined;
  roles: readonly RoleDefinition[];
}

/** A crew of the library: its name and its form. Mount it with a key of its id. */
export function CrewEditor({ saved, name = "", roles }: CrewEditorProps) {
  const calls = useCrewCalls();
  return (
    <NamedEditor<CrewConfig | null, CrewConfig>
      noun="crew"
      saved={saved && { ...saved, content: saved.crew }}
      initial={{ name, content: null }}
      calls={calls}
      tidy={(crew) => CrewConfig.safeParse(crew).data ?? null}
      placeholder="Research team"
      nobody="No workflow names this crew. Choose it in the settings of a crew task."
      loss="may not run without it"
    >
      {({ content: crew, set, wasTried }) => (
        <>
          {crew ? (
            <CrewForm crew={crew} roles={roles} onChange={set} />
          ) : (
            <Field
              label="Agents"
              error={wasTried ? "A crew needs at least one agent." : undefined}
              hint="Choose a role; more agents and the way they work come after it."
              group
            >
              <AddAgent
                roles={roles}
                others={[]}
                onAdd={(agent) => set(CrewConfig.parse({ agents: [agent] }))}
              />
            </Field>
          )}
          {crew
            ? remarks(crew, roles, wasTried).map((message) => (
                <p key={message} className="flex gap-2 text-[13px]">
                  <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
                  {message}
                </p>
              ))
            : null}
        </>
      )}
    </NamedEditor>
  );
}

/** What would keep a run from starting is said here already, where it can be mended. */
function remarks(crew: CrewConfig, roles: readonly RoleDefinition[], wasTried: boolean): string[] {
  const fault = CrewConfig.safeParse(crew).error?.issues[0]?.message;
  const missing = crew.agents.filter(({ role_name }) => !roles.some(({ name }) => name === role_name));
  return [
    ...(fault !== undefined && wasTried ? [fault] : []),
    ...crewFaults(crew).map(({ message }) => message),
    ...missing.map(
      ({ role_name, agent_id }) =>
        `The agent "${agent_id}" has the role "${role_name}", which does not exist.`,
    ),
  ];
}

function useCrewCalls(): LibraryCalls<CrewConfig> {
  const trpc = useTrpc();
  const { crews } = useTrpcClient();
  const queryClient = useQueryClient();
  return {
    create: ({ name, content }) => crews.create.mutate({ name, crew: content }),
    save: ({ content, ...rest }) => crews.save.mutate({ ...rest, crew: content }),
    duplicate: (id) => crews.duplicate.mutate({ id }),
    restore: ({ name, content }) => crews.restore.mutate({ name, crew: content }),
    remove: (id, force) => crews.remove.mutate({ id, force }),
    file: (id, format) => crews.export.query({ ids: [id], format }),
    refresh: () => queryClient.invalidateQueries(trpc.crews.pathFilter()),
    theirs: (detail) => {
      const stale = Stale.safeParse(detail);
      if (!stale.success) return null;
      const { crew, ...current } = stale.data.current;
      return { ...current, content: crew };
    },
  };
}
