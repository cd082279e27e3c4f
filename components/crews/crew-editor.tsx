"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Copy, Download, Ellipsis, Trash2, TriangleAlert } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { UnsavedGuard } from "@/components/roles/unsaved-guard";
import { leaveTo } from "@/components/shell/leaving";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { downloadText } from "@/components/workflows/download";
import { WorkflowUses } from "@/components/workflows/workflow-uses";
import { CrewConfig } from "@/server/domain/crew";
import { crewFaults } from "@/server/domain/nodes/crew-task";
import type { RoleDefinition } from "@/server/domain/role";
import { isSameJson } from "@/server/domain/values";
import { newAgent } from "./crew-changes";
import { AddAgent, CrewForm } from "./crew-form";
import type { CrewListed } from "./crews-page";

/** A crew of the library: its name and its form. Mount it with a key of its id and revision. */
export function CrewEditor({ saved, roles }: { saved: CrewListed | null; roles: readonly RoleDefinition[] }) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [name, setName] = useState(saved?.name ?? "");
  const [crew, setCrew] = useState<CrewConfig | null>(saved?.crew ?? null);
  const [tried, setTried] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const [isStale, setStale] = useState(false);
  const isChanged = saved
    ? name !== saved.name || !isSameJson(crew, saved.crew)
    : name !== "" || crew !== null;
  const refresh = () => queryClient.invalidateQueries(trpc.crews.pathFilter());
  const create = useMutation(
    trpc.crews.create.mutationOptions({
      onSuccess: ({ id }, { name: created }) => {
        setLeaving(true);
        void refresh();
        toast(`Created “${created}”`, { tone: "success" });
        router.replace(`/crews?crew=${encodeURIComponent(id)}`);
      },
    }),
  );
  const save = useMutation(
    trpc.crews.save.mutationOptions({
      onSuccess: () => {
        void refresh();
        toast(`Saved “${name.trim()}”`, { tone: "success" });
      },
      onError: (error) => {
        const { code, message } = toApiError(error);
        if (code === "CONFLICT") setStale(true);
        else toast(message, { tone: "error" });
      },
    }),
  );
  const read = crew && CrewConfig.safeParse(crew);
  const fault = read && !read.success ? read.error.issues[0]?.message : undefined;
  const submit = () => {
    setTried(true);
    if (name.trim() === "" || !read?.success) return;
    if (saved) save.mutate({ id: saved.id, revision: saved.revision, name: name.trim(), crew: read.data });
    else create.mutate({ name: name.trim(), crew: read.data });
  };
  // What would keep a run from starting is said here already, where it can be mended.
  const hints = crew ? crewFaults(crew) : [];
  const missing =
    crew?.agents.filter(({ role_name }) => !roles.some((role) => role.name === role_name)) ?? [];
  return (
    <form
      aria-label={saved ? `Crew ${saved.name}` : "New crew"}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      className="flex min-h-0 flex-1 flex-col"
    >
      <header className="flex min-h-13 shrink-0 items-center gap-3 border-b border-line px-4 py-2.5 sm:px-6">
        <h1 className="min-w-0 truncate text-[15px] font-semibold">{name || "New crew"}</h1>
        {saved ? (
          <code className="truncate font-mono text-xs text-ink-3 max-sm:hidden">{saved.id}</code>
        ) : null}
        <span className="flex-1" />
        {isChanged && saved ? (
          <Button
            variant="ghost"
            className="max-sm:hidden"
            onClick={() => {
              setName(saved.name);
              setCrew(saved.crew);
              setTried(false);
            }}
          >
            Discard
          </Button>
        ) : null}
        <Button
          type="submit"
          variant="primary"
          pending={create.isPending || save.isPending}
          disabled={saved !== null && !isChanged}
        >
          {saved ? "Save" : "Create crew"}
        </Button>
        {saved ? <CrewMenu saved={saved} onLeave={() => setLeaving(true)} /> : null}
      </header>
      {isStale ? (
        <div
          role="alert"
          className="flex flex-wrap items-center gap-3 border-b border-line bg-waiting/10 px-6 py-3 text-sm"
        >
          <TriangleAlert aria-hidden="true" className="size-4 text-waiting" />
          <p className="min-w-0 flex-1">
            This crew was changed in another place. Nothing of yours was saved yet.
          </p>
          <Button size="sm" onClick={() => void refresh()}>
            Load the other version
          </Button>
        </div>
      ) : null}
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="@container flex max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
          <TextField
            label="Name"
            value={name}
            onValueChange={setName}
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
                onAdd={(role) => setCrew(CrewConfig.parse({ agents: [newAgent(role, [])] }))}
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
          {saved ? <UsedBy uses={saved.used_by} /> : null}
        </div>
      </div>
      <UnsavedGuard
        active={isChanged && !isLeaving && !create.isPending && !save.isPending}
        what={name ? `“${name}”` : "the new crew"}
        onDiscard={() => setLeaving(true)}
      />
    </form>
  );
}

function UsedBy({ uses }: { uses: CrewListed["used_by"] }) {
  return (
    <section aria-labelledby="crew-used-by" className="border-t border-line pt-5">
      <h2 id="crew-used-by" className="mb-2 text-[13px] font-medium">
        Used by
      </h2>
      {uses.length === 0 ? (
        <p className="text-[13px] text-ink-3">
          No workflow names this crew. Choose it in the settings of a crew task.
        </p>
      ) : (
        <WorkflowUses uses={uses} />
      )}
    </section>
  );
}

function CrewMenu({ saved, onLeave }: { saved: CrewListed; onLeave: () => void }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [isAsking, setAsking] = useState(false);
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
      onSettled: () => setAsking(false),
    }),
  );
  const download = async (format: "yaml" | "json") => {
    const { file_name, text } = await client.crews.export.query({ ids: [id], format });
    downloadText(file_name, text);
  };
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton plain label={`Actions for ${name}`} icon={<Ellipsis aria-hidden="true" />} />}
        items={[
          { label: "Duplicate", icon: <Copy />, onSelect: () => duplicate.mutate({ id }) },
          { label: "Export as YAML", icon: <Download />, onSelect: () => void download("yaml") },
          { label: "Export as JSON", icon: <Download />, onSelect: () => void download("json") },
          "separator",
          {
            label: "Delete",
            icon: <Trash2 />,
            danger: true,
            onSelect: () => (used_by.length > 0 ? setAsking(true) : remove.mutate({ id })),
          },
        ]}
      />
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        danger
        title={`Delete “${name}” although it is used?`}
        description={`${used_by.length === 1 ? "One workflow names" : `${used_by.length} workflows name`} this crew and may not run without it:`}
        confirm="Delete crew"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ id, force: true })}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <ul tabIndex={0} className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5 text-sm">
          {used_by.map((use) => (
            <li key={use.workflow_id}>{use.workflow_name}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  );
}
