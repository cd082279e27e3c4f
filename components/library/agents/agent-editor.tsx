"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { z } from "zod";
import type { AgentListed } from "@/components/forms/agent-choice";
import { AgentForm } from "@/components/forms/agent-form";
import { LibraryEditor } from "@/components/library/library-editor";
import { LibraryMenu } from "@/components/library/library-menu";
import { useDraft } from "@/components/library/use-draft";
import { UsesList } from "@/components/library/uses-list";
import { leaveTo } from "@/components/page/leaving";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { AgentConfig, type RoleDefinition } from "@/server/domain/agent/role";

/** What a refused save tells of the version that stands there now. */
const Stale = z.object({
  reason: z.literal("stale"),
  current: z.object({ name: z.string(), agent: AgentConfig, revision: z.number() }),
});
/** The id comes with the name, when it is created. */
const NEW = { name: "", agent: AgentConfig.parse({ agent_id: "agent", role_name: "" }) };

/** An agent of the library: its name and its form. Mount it with a key of its id. */
export function AgentEditor({
  saved,
  roles,
}: {
  saved: AgentListed | null;
  roles: readonly RoleDefinition[];
}) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const draft = useDraft(
    saved && { content: { name: saved.name, agent: saved.agent }, revision: saved.revision },
    NEW,
  );
  const { name, agent } = draft.content;
  const [tried, setTried] = useState(false);
  const refresh = () => {
    // Crews show the settings of their members.
    void queryClient.invalidateQueries(trpc.crews.pathFilter());
    return queryClient.invalidateQueries(trpc.agents.pathFilter());
  };
  const create = useMutation(
    trpc.agents.create.mutationOptions({
      onSuccess: ({ id }, { name: created }) => {
        draft.leave();
        void refresh();
        toast(`Created “${created}”`, { tone: "success" });
        router.replace(`/agents?agent=${encodeURIComponent(id)}`);
      },
    }),
  );
  const save = useMutation(
    trpc.agents.save.mutationOptions({
      onSuccess: ({ revision }, written) => {
        // As it was read, not as it was sent: what the schema fills in is there.
        draft.onSaved({ content: { name: written.name, agent: AgentConfig.parse(written.agent) }, revision });
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
  const submit = (revision: number) => {
    setTried(true);
    const read = AgentConfig.safeParse(agent);
    if (name.trim() === "" || agent.role_name === "" || !read.success) return;
    const { handoffs, ...rest } = read.data;
    const lines = handoffs?.map((line) => line.trim()).filter((line) => line !== "");
    const next = { name: name.trim(), agent: { ...rest, ...(lines ? { handoffs: lines } : {}) } };
    draft.set(next);
    if (saved) save.mutate({ id: saved.id, revision, ...next });
    else create.mutate(next);
  };
  const isUnknown = agent.role_name !== "" && !roles.some((role) => role.name === agent.role_name);
  return (
    <LibraryEditor
      noun="agent"
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
      menu={saved ? <AgentMenu saved={saved} onLeave={draft.leave} /> : null}
    >
      <div key={draft.generation} className="@container flex max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
        <TextField
          label="Name"
          value={name}
          onValueChange={(next) => draft.set((before) => ({ ...before, name: next }))}
          maxLength={200}
          placeholder="Careful writer"
          error={tried && name.trim() === "" ? "Give it a name." : undefined}
        />
        <AgentForm
          agent={agent}
          roles={roles}
          roleError={tried && agent.role_name === "" ? "Choose the role that it has." : undefined}
          onChange={(next) => draft.set((before) => ({ ...before, agent: next }))}
        />
        {isUnknown ? (
          <p className="flex gap-2 text-[13px]">
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
            {`It has the role “${agent.role_name}”, which does not exist. Choose another.`}
          </p>
        ) : null}
        {saved ? (
          <div className="border-t border-line pt-5">
            <UsesList
              uses={saved.used_by}
              nobody="No crew and no workflow names this agent. Add it to a crew, or choose it in an agent task."
            />
          </div>
        ) : null}
      </div>
    </LibraryEditor>
  );
}

function AgentMenu({ saved, onLeave }: { saved: AgentListed; onLeave: () => void }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { id, name, agent, used_by } = saved;
  const refresh = () => queryClient.invalidateQueries(trpc.agents.pathFilter());
  const duplicate = useMutation(
    trpc.agents.duplicate.mutationOptions({
      onSuccess: async (copy) => {
        await refresh();
        leaveTo(() => router.push(`/agents?agent=${encodeURIComponent(copy.id)}`));
      },
    }),
  );
  const restore = useMutation(trpc.agents.restore.mutationOptions({ onSettled: refresh }));
  const remove = useMutation(
    trpc.agents.remove.mutationOptions({
      onSuccess: () => {
        onLeave();
        router.replace("/agents");
        void refresh();
        toast(`Deleted “${name}”`, { undo: () => restore.mutate({ name, agent }) });
      },
    }),
  );
  const isInWorkflow = used_by.some(({ kind }) => kind === "workflow");
  return (
    <LibraryMenu
      noun="agent"
      name={name}
      uses={used_by}
      loss={isInWorkflow ? "may not run without it" : "will go on with the settings that it has now"}
      onDuplicate={() => duplicate.mutate({ id })}
      file={(format) => client.agents.export.query({ ids: [id], format })}
      onDelete={(force) => remove.mutateAsync({ id, force })}
    />
  );
}
