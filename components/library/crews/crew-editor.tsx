"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { z } from "zod";
import { AddAgent, CrewForm } from "@/components/forms/crew-form";
import { LibraryEditor } from "@/components/library/library-editor";
import { LibraryMenu } from "@/components/library/library-menu";
import { useDraft } from "@/components/library/use-draft";
import { UsesList } from "@/components/library/uses-list";
import { leaveTo } from "@/components/page/leaving";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Field } from "@/components/ui/field";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewFaults } from "@/server/domain/nodes/crew-task";

type CrewListed = Answers["crews"]["list"][number];

/** What a refused save tells of the version that stands there now. */
const Stale = z.object({
  reason: z.literal("stale"),
  current: z.object({ name: z.string(), crew: CrewConfig, revision: z.number() }),
});

/** A crew of the library: its name and its form. Mount it with a key of its id. */
export function CrewEditor({ saved, roles }: { saved: CrewListed | null; roles: readonly RoleDefinition[] }) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const draft = useDraft<{ name: string; crew: CrewConfig | null }>(
    saved && { content: { name: saved.name, crew: saved.crew }, revision: saved.revision },
    { name: "", crew: null },
  );
  const { name, crew } = draft.content;
  const setCrew = (next: CrewConfig) => draft.set((before) => ({ ...before, crew: next }));
  const [tried, setTried] = useState(false);
  const refresh = () => queryClient.invalidateQueries(trpc.crews.pathFilter());
  const create = useMutation(
    trpc.crews.create.mutationOptions({
      onSuccess: ({ id }, { name: created }) => {
        draft.leave();
        void refresh();
        toast(`Created “${created}”`, { tone: "success" });
        router.replace(`/crews?crew=${encodeURIComponent(id)}`);
      },
    }),
  );
  const save = useMutation(
    trpc.crews.save.mutationOptions({
      onSuccess: ({ revision }, written) => {
        // As it was read, not as it was sent: what the schema fills in is there.
        draft.onSaved({ content: { name: written.name, crew: CrewConfig.parse(written.crew) }, revision });
        setTried(false);
        void refresh();
        toast(`Saved “${written.name}”`, { tone: "success" });
      },
      onError: (error) => {
        const { code, message, detail } = toApiError(error);
        const stale = Stale.safeParse(detail);
        if (code !== "CONFLICT" || !stale.success) return toast(message, { tone: "error" });
        const { revision, ...content } = stale.data.current;
        draft.onConflict({ content, revision });
      },
    }),
  );
  const read = crew && CrewConfig.safeParse(crew);
  const fault = read && !read.success ? read.error.issues[0]?.message : undefined;
  const submit = (revision: number) => {
    setTried(true);
    if (name.trim() === "" || !read?.success) return;
    const next = { name: name.trim(), crew: read.data };
    draft.set(next);
    if (saved) save.mutate({ id: saved.id, revision, ...next });
    else create.mutate(next);
  };
  // What would keep a run from starting is said here already, where it can be mended.
  const hints = crew ? crewFaults(crew) : [];
  const missing =
    crew?.agents.filter(({ role_name }) => !roles.some((role) => role.name === role_name)) ?? [];
  return (
    <LibraryEditor
      noun="crew"
      savedName={saved?.name ?? null}
      name={name}
      draft={draft}
      isSaving={create.isPending || save.isPending}
      onSubmit={submit}
      onDiscard={() => {
        draft.discard();
        setTried(false);
      }}
      badges={
        saved ? <code className="truncate font-mono text-xs text-ink-3 max-sm:hidden">{saved.id}</code> : null
      }
      menu={saved ? <CrewMenu saved={saved} onLeave={draft.leave} /> : null}
    >
      <div key={draft.generation} className="@container flex max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
        <TextField
          label="Name"
          value={name}
          onValueChange={(next) => draft.set((before) => ({ ...before, name: next }))}
          maxLength={200}
          placeholder="Research team"
          error={tried && name.trim() === "" ? "Give it a name." : undefined}
        />
        {crew ? (
          <CrewForm crew={crew} roles={roles} onChange={setCrew} />
        ) : (
          <Field
            label="Agents"
            error={tried ? "A crew needs at least one agent." : undefined}
            hint="Choose a role; more agents and the way they work come after it."
            group
          >
            <AddAgent
              roles={roles}
              others={[]}
              onAdd={(agent) => setCrew(CrewConfig.parse({ agents: [agent] }))}
            />
          </Field>
        )}
        {[
          ...(fault && tried ? [fault] : []),
          ...hints.map(({ message }) => message),
          ...missing.map(
            ({ role_name, agent_id }) =>
              `The agent "${agent_id}" has the role "${role_name}", which does not exist.`,
          ),
        ].map((message) => (
          <p key={message} className="flex gap-2 text-[13px]">
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
            {message}
          </p>
        ))}
        {saved ? (
          <div className="border-t border-line pt-5">
            <UsesList
              uses={saved.used_by}
              nobody="No workflow names this crew. Choose it in the settings of a crew task."
            />
          </div>
        ) : null}
      </div>
    </LibraryEditor>
  );
}

function CrewMenu({ saved, onLeave }: { saved: CrewListed; onLeave: () => void }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { id, name, crew, used_by } = saved;
  const refresh = () => queryClient.invalidateQueries(trpc.crews.pathFilter());
  const duplicate = useMutation(
    trpc.crews.duplicate.mutationOptions({
      onSuccess: async (copy) => {
        await refresh();
        leaveTo(() => router.push(`/crews?crew=${encodeURIComponent(copy.id)}`));
      },
    }),
  );
  const restore = useMutation(trpc.crews.restore.mutationOptions({ onSettled: refresh }));
  const remove = useMutation(
    trpc.crews.remove.mutationOptions({
      onSuccess: () => {
        onLeave();
        router.replace("/crews");
        void refresh();
        toast(`Deleted “${name}”`, { undo: () => restore.mutate({ name, crew }) });
      },
    }),
  );
  return (
    <LibraryMenu
      noun="crew"
      name={name}
      uses={used_by}
      loss="may not run without it"
      onDuplicate={() => duplicate.mutate({ id })}
      file={(format) => client.crews.export.query({ ids: [id], format })}
      onDelete={(force) => remove.mutateAsync({ id, force })}
    />
  );
}
