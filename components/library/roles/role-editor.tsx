"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { RoleFace } from "@/components/display/role-face";
import { describeGuardrail } from "@/components/forms/fields/guardrail-rows";
import { LibraryEditor } from "@/components/library/library-editor";
import type { LibraryCalls } from "@/components/library/library-menu";
import { UsesList } from "@/components/library/uses-list";
import { type Answers, useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { CopyButton } from "@/components/ui/json-view";
import { ROLE_RULES, type RoleDefinition } from "@/server/domain/agent/role";
import { withoutKey } from "@/server/domain/base/objects";
import { countUses } from "@/server/domain/library/uses";
import { newRole, type RoleErrors, readPrompt, roleErrors, tidied } from "./role-draft";
import { RoleForm } from "./role-form";

type RoleListed = Answers["roles"]["list"][number];

/** A role's form with its prompt next to it. Mount it with the role's name as its key. `name`: that of a new role. */
export function RoleEditor({ saved, name = "" }: { saved: RoleListed | null; name?: string | undefined }) {
  const all = useQuery(useTrpc().roles.list.queryOptions()).data ?? [];
  const others = all.map(({ role }) => role.name).filter((other) => other !== saved?.role.name);
  const [textErrors, setTextErrors] = useState<RoleErrors>({});
  const errorsOf = (role: RoleDefinition) => ({ ...roleErrors(tidied(role), others), ...textErrors });
  const file = saved?.origin?.file;
  return (
    <LibraryEditor
      noun="role"
      saved={
        saved && {
          key: saved.role.name,
          content: saved.role,
          revision: saved.revision,
          used_by: saved.used_by,
        }
      }
      initial={newRole(name)}
      calls={useRoleCalls()}
      tidy={(role) => (Object.keys(errorsOf(role)).length > 0 ? null : tidied(role))}
      isReadOnly={file !== undefined}
      loss="can't run without it"
      onDiscard={() => setTextErrors({})}
      face={(role) => <RoleFace name={role.name} icon={role.icon} color={role.color} size={28} />}
      badges={
        <>
          {file ? <Badge className="max-sm:hidden">{`From ${file}`}</Badge> : null}
          {saved?.builtin ? <Badge className="max-sm:hidden">Built-in</Badge> : null}
        </>
      }
      notice={file ? <FileNotice file={file} /> : null}
    >
      {({ draft, wasTried }) => {
        const role = draft.content;
        const errors = errorsOf(role);
        // Until the first attempt to save, mark only wrong entries, not empty fields.
        const shown = wasTried
          ? errors
          : {
              ...textErrors,
              ...pick(errors, "system_prompt_template"),
              ...(role.name ? pick(errors, "name") : {}),
            };
        return (
          <div className="@container">
            <div className="grid gap-8 px-4 py-6 sm:px-6 @4xl:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)]">
              {file ? (
                <RoleReading role={role} />
              ) : (
                <RoleForm
                  key={draft.generation}
                  role={role}
                  errors={shown}
                  onChange={(change) => draft.set((before) => ({ ...before, ...change }))}
                  onTextErrorChange={(field, message) =>
                    setTextErrors((before) =>
                      message ? { ...before, [field]: message } : withoutKey(before, field),
                    )
                  }
                />
              )}
              <div className="flex flex-col gap-6 @4xl:sticky @4xl:top-0 @4xl:max-h-[calc(100dvh-7.5rem)] @4xl:self-start">
                {role.rule ? null : (
                  <PromptPreview role={{ ...tidied(role), name: role.name.trim() || "…" }} />
                )}
                {saved ? (
                  <UsesList uses={saved.used_by} nobody="Not used by any workflow, crew or agent." />
                ) : null}
              </div>
            </div>
          </div>
        );
      }}
    </LibraryEditor>
  );
}

function FileNotice({ file }: { file: string }) {
  return (
    <p role="status" className="border-b border-line bg-sunken px-4 py-3 text-sm text-ink-2 sm:px-6">
      This role is read from the file <code className="font-mono text-xs">{file}</code> in the roles folder.
      Edit the file, or duplicate the role and edit the copy.
    </p>
  );
}

const pick = (errors: RoleErrors, key: string): RoleErrors => (errors[key] ? { [key]: errors[key] } : {});

function useRoleCalls(): LibraryCalls<RoleDefinition> {
  const { roles } = useTrpcClient();
  // Renaming a role updates crews and agents, too.
  const invalidate = useInvalidate("roles", "crews", "agents");
  return {
    create: async (role) => (await roles.create.mutate({ role })).name,
    save: async (key, role, revision) => {
      const saved = await roles.save.mutate({ name: key, revision, role });
      const places = countUses(
        (["workflow", "crew", "agent"] as const).flatMap((kind) =>
          Array.from({ length: saved.renamed_in[`${kind}s`] }, () => ({ kind })),
        ),
      );
      return { ...saved, key: saved.name, detail: places ? `Renamed in ${places}.` : undefined };
    },
    get: async (name) => {
      const { role, revision } = await roles.get.query({ name });
      return { content: role, revision };
    },
    duplicate: async (name) => (await roles.duplicate.mutate({ name })).name,
    restore: (role) => roles.create.mutate({ role }),
    remove: (name, force) => roles.remove.mutate({ name, force }),
    file: (name, format) => roles.export.query({ names: [name], format }),
    invalidate,
  };
}

/** The system prompt that the form results in. */
function PromptPreview({ role }: { role: RoleDefinition }) {
  const { prompt, error } = readPrompt(role);
  return (
    <section aria-labelledby="prompt-preview" className="flex min-h-0 flex-col gap-2">
      <header className="flex items-center gap-2">
        <h3 id="prompt-preview" className="flex-1 text-[13px] font-medium">
          Prompt
        </h3>
        {prompt === null ? null : (
          <>
            <span className="text-xs text-ink-3 tabular-nums">
              about {Math.ceil(prompt.length / 4)} tokens
            </span>
            <CopyButton text={prompt} label="Copy prompt" />
          </>
        )}
      </header>
      {prompt === null ? (
        <p className="text-[13px] text-failed">{error}</p>
      ) : (
        <section
          tabIndex={0}
          aria-label="Prompt text"
          className="min-h-40 overflow-y-auto rounded-lg border border-line bg-sunken p-4 font-mono text-xs leading-5 whitespace-pre-wrap"
        >
          {prompt}
        </section>
      )}
      <p className="text-[13px] text-ink-3">Updates as you edit. The node's task is added at the end.</p>
    </section>
  );
}

/** A role that cannot be edited here. */
function RoleReading({ role }: { role: RoleDefinition }) {
  return (
    <dl className="flex min-w-0 flex-col gap-5 text-sm">
      <Part title="Description">{role.description || "None"}</Part>
      <Lines title="Goals" items={role.goals} />
      <Lines title="Responsibilities" items={role.responsibilities} />
      {role.rule ? <Part title="Answered by">{`Rule: ${ROLE_RULES[role.rule.kind]}`}</Part> : null}
      <Lines title="Tools" items={role.tools} mono />
      <Lines
        title="Guardrails"
        items={role.guardrails.map((rule) => `${rule.name}. ${describeGuardrail(rule)}`)}
      />
    </dl>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt className="mb-1 text-[13px] font-medium">{title}</dt>
      <dd className="text-ink-2 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function Lines({ title, items, mono }: { title: string; items: readonly string[]; mono?: boolean }) {
  return (
    <Part title={title}>
      {items.length === 0 ? (
        "None"
      ) : (
        <ul
          className={
            mono ? "flex flex-col gap-1 font-mono text-[13px]" : "flex list-disc flex-col gap-1 pl-5"
          }
        >
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      )}
    </Part>
  );
}
