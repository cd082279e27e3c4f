"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { RoleFace } from "@/components/display/role-face";
import { LibraryEditor } from "@/components/library/library-editor";
import { LibraryMenu } from "@/components/library/library-menu";
import { useEditorPlace } from "@/components/library/place";
import { useDraft, type Version } from "@/components/library/use-draft";
import { UsesList } from "@/components/library/uses-list";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { toast } from "@/components/ui/toasts";
import { RoleDefinition } from "@/server/domain/agent/role";
import { recordOf } from "@/server/domain/base/guards";
import { withoutKey } from "@/server/domain/base/objects";
import { countUses } from "@/server/domain/library/uses";
import { PromptPreview } from "./prompt-preview";
import { isChanged, newRole, type RoleFaults, roleFaults, tidied } from "./role-draft";
import { RoleForm } from "./role-form";
import { RoleReading } from "./role-reading";

export type RoleListed = Answers["roles"]["list"][number];

export interface RoleEditorProps {
  /** What is saved; null for a role that does not exist yet. */
  saved: RoleListed | null;
  /** What a new one is called. */
  name?: string | undefined;
  /** Names that other roles have. */
  otherNames: readonly string[];
}

/** A role's form with its prompt beside it. Mount it with a key of the role's name. */
export function RoleEditor({ saved, name = "", otherNames }: RoleEditorProps) {
  const trpc = useTrpc();
  const place = useEditorPlace("/roles", "role");
  const queryClient = useQueryClient();
  const draft = useDraft(
    saved && { content: saved.role, revision: saved.revision },
    saved?.role ?? { ...newRole(), name },
    (a, b) => !isChanged(a, b),
  );
  const [textFaults, setTextFaults] = useState<RoleFaults>({});
  const [tried, setTried] = useState(false);

  const role = draft.content;
  const isNew = saved === null;
  /** A role that is read from a file is only changed there. */
  const file = saved?.origin?.file;
  const faults = { ...roleFaults(tidied(role), otherNames), ...textFaults };
  // An empty form is no heap of errors: before the first try, only what was typed wrong is marked.
  const shown = tried
    ? faults
    : {
        ...textFaults,
        ...pick(faults, "system_prompt_template"),
        ...(role.name ? pick(faults, "name") : {}),
      };

  const onDone = (done: RoleDefinition, revision: number) => {
    draft.onSaved({ content: done, revision });
    setTried(false);
    // Its name may stand in crews and agents, too.
    for (const list of [trpc.roles, trpc.crews, trpc.agents])
      void queryClient.invalidateQueries(list.pathFilter());
    if (place.isSheet || saved?.role.name !== done.name) {
      // A new name changes the address, and with it this component's key: the guard must not ask on the way.
      draft.leave();
      place.saved(done.name);
    }
  };
  const onError = (error: unknown) => {
    const { code, message, detail } = toApiError(error);
    const theirs = code === "CONFLICT" ? toTheirs(detail) : null;
    if (theirs) draft.onConflict(theirs);
    else toast(message, { tone: "error" });
  };
  const create = useMutation(
    trpc.roles.create.mutationOptions({
      onSuccess: (_answer, { role: created }) => {
        onDone(RoleDefinition.parse(created), 1);
        toast(`Created “${created.name}”`, { tone: "success" });
      },
      onError,
    }),
  );
  const save = useMutation(
    trpc.roles.save.mutationOptions({
      onSuccess: ({ revision, renamed_in }, { role: written }) => {
        onDone(RoleDefinition.parse(written), revision);
        const places = placesOf(renamed_in);
        toast(`Saved “${written.name}”`, {
          tone: "success",
          detail: places ? `Its new name is in ${places}.` : undefined,
        });
      },
      onError,
    }),
  );
  const submit = (revision: number) => {
    setTried(true);
    if (Object.keys(faults).length > 0) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    if (isNew) create.mutate({ role: tidied(role) });
    else save.mutate({ name: saved.role.name, revision, role: tidied(role) });
  };

  return (
    <LibraryEditor
      noun="role"
      savedName={saved?.role.name ?? null}
      name={role.name}
      draft={draft}
      isSaving={create.isPending || save.isPending}
      isReadOnly={file !== undefined}
      onSubmit={submit}
      onDiscard={() => {
        draft.discard();
        setTextFaults({});
        setTried(false);
      }}
      face={<RoleFace name={role.name} icon={role.icon} color={role.color} size={28} />}
      badges={
        <>
          {file ? <Badge className="max-sm:hidden">{`From ${file}`}</Badge> : null}
          {saved?.builtin ? <Badge className="max-sm:hidden">Came with Troupe</Badge> : null}
        </>
      }
      menu={saved && !place.isSheet ? <RoleMenu saved={saved} onLeave={draft.leave} /> : null}
      notice={
        file ? (
          <p role="status" className="border-b border-line bg-sunken px-4 py-3 text-sm text-ink-2 sm:px-6">
            This role is read from the file <code className="font-mono text-xs">{file}</code> in the folder of
            roles. It is changed there, or duplicate it to have one of your own.
          </p>
        ) : null
      }
    >
      <div className="@container">
        <div className="grid gap-8 px-4 py-6 sm:px-6 @4xl:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)]">
          {file ? (
            <RoleReading role={role} />
          ) : (
            <RoleForm
              key={draft.generation}
              role={role}
              faults={shown}
              onChange={(change) => draft.set((before) => ({ ...before, ...change }))}
              onTextFault={(field, message) =>
                setTextFaults((before) =>
                  message ? { ...before, [field]: message } : withoutKey(before, field),
                )
              }
            />
          )}
          <div className="flex flex-col gap-6 @4xl:sticky @4xl:top-0 @4xl:max-h-[calc(100dvh-7.5rem)] @4xl:self-start">
            <PromptPreview role={{ ...tidied(role), name: role.name.trim() || "…" }} />
            {saved ? (
              <UsesList uses={saved.used_by} nobody="No workflow, crew or agent names this role." />
            ) : null}
          </div>
        </div>
      </div>
    </LibraryEditor>
  );
}

function pick(faults: RoleFaults, key: string): RoleFaults {
  return faults[key] ? { [key]: faults[key] } : {};
}

function toTheirs(detail: unknown): Version<RoleDefinition> | null {
  const found = recordOf(detail);
  const role = RoleDefinition.safeParse(found.role);
  return found.reason === "stale" && role.success && typeof found.revision === "number"
    ? { content: role.data, revision: found.revision }
    : null;
}

/** 2 workflows and 1 crew; "" where there is none. */
function placesOf({ workflows, crews, agents }: Record<"workflows" | "crews" | "agents", number>): string {
  const of = (kind: "workflow" | "crew" | "agent", count: number) =>
    Array.from({ length: count }, () => ({ kind }));
  return countUses([...of("workflow", workflows), ...of("crew", crews), ...of("agent", agents)]);
}

function RoleMenu({ saved, onLeave }: { saved: RoleListed; onLeave: () => void }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const place = useEditorPlace("/roles", "role");
  const queryClient = useQueryClient();
  const { name } = saved.role;
  const refresh = () => queryClient.invalidateQueries(trpc.roles.list.queryFilter());
  const duplicate = useMutation(
    trpc.roles.duplicate.mutationOptions({
      onSuccess: async (copy) => {
        await refresh();
        place.show(copy.name);
      },
    }),
  );
  const recreate = useMutation(trpc.roles.create.mutationOptions({ onSuccess: refresh }));
  const remove = useMutation(
    trpc.roles.remove.mutationOptions({
      onSuccess: () => {
        onLeave();
        place.close();
        void refresh();
        toast(`Deleted “${name}”`, { undo: () => recreate.mutate({ role: saved.role }) });
      },
    }),
  );
  return (
    <LibraryMenu
      noun="role"
      name={name}
      uses={saved.used_by}
      loss="cannot run without it"
      onDuplicate={() => duplicate.mutate({ name })}
      file={(format) => client.roles.export.query({ names: [name], format })}
      onDelete={saved.origin ? undefined : (force) => remove.mutateAsync({ name, force })}
    />
  );
}
