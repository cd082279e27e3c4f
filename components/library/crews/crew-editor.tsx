"use client";

import { useQuery } from "@tanstack/react-query";
import { AddAgent, CrewForm } from "@/components/forms/crew/crew-form";
import { LibraryEditor } from "@/components/library/library-editor";
import { NamedItemFields, namedCalls, namedItem, Remark } from "@/components/library/named-item";
import { type Answers, useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { Field } from "@/components/ui/input/field";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { issueText } from "@/server/domain/base/issues/issue-text";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewDiagnostics } from "@/server/domain/crew/crew-diagnostics";

type CrewListed = Answers["crews"]["list"][number];

interface NamedCrew {
  name: string;
  crew: CrewConfig;
}
/** A new draft has no agents yet, and so no crew. */
interface CrewDraft {
  name: string;
  crew: CrewConfig | null;
}

const contentOf = ({ name, crew }: NamedCrew): NamedCrew => ({ name, crew });

/** Edits a library crew. Mount it with its id as key. `name`: that of a new crew. */
export function CrewEditor({ saved, name = "" }: { saved: CrewListed | null; name?: string | undefined }) {
  const roles = useQuery(useTrpc().roles.list.queryOptions()).data?.map(({ role }) => role) ?? [];
  const invalidate = useInvalidate("crews");
  const item = namedItem(saved, contentOf);
  return (
    <LibraryEditor<CrewDraft, NamedCrew>
      noun="crew"
      saved={item}
      initial={{ name, crew: null }}
      calls={namedCalls(useTrpcClient().crews, contentOf, invalidate)}
      tidy={tidied}
      loss="might not run without it"
    >
      {(form) => {
        const { crew } = form.draft.content;
        const set = (next: CrewConfig) => form.draft.set((before) => ({ ...before, crew: next }));
        return (
          <NamedItemFields
            form={form}
            saved={item}
            placeholder="Research team"
            unused="Not used by any workflow. Choose it in the settings of a crew task."
          >
            {crew ? (
              <CrewForm crew={crew} roles={roles} onChange={set} />
            ) : (
              <Field
                label="Agents"
                error={form.wasTried ? "A crew needs at least one agent." : undefined}
                hint="Choose a role first, then add agents and a process"
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
              ? remarks(crew, roles, form.wasTried).map((message) => <Remark key={message}>{message}</Remark>)
              : null}
          </NamedItemFields>
        );
      }}
    </LibraryEditor>
  );
}

function tidied({ name, crew }: CrewDraft): NamedCrew | null {
  const { data } = CrewConfig.safeParse(crew);
  return name.trim() === "" || !data ? null : { name: name.trim(), crew: data };
}

function remarks(crew: CrewConfig, roles: readonly RoleDefinition[], wasTried: boolean): string[] {
  const [issue] = CrewConfig.safeParse(crew).error?.issues ?? [];
  const missing = crew.agents.filter(({ role_name }) => !roles.some(({ name }) => name === role_name));
  return [
    ...(issue && wasTried ? [issueText(issue)] : []),
    ...crewDiagnostics(crew).map(({ message }) => message),
    ...missing.map(
      ({ role_name, agent_id }) =>
        `Agent “${agent_id}” has the role “${role_name}”, which doesn't exist. Choose another.`,
    ),
  ];
}
