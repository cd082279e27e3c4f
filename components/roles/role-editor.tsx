"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Copy, Download, Ellipsis, Trash2, TriangleAlert } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { leaveTo } from "@/components/shell/leaving";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { toast } from "@/components/ui/toasts";
import { downloadText } from "@/components/workflows/download";
import { WorkflowUses } from "@/components/workflows/workflow-uses";
import { RoleDefinition } from "@/server/domain/role";
import { PromptPreview } from "./prompt-preview";
import { isChanged, type RoleFaults, roleFaults, tidied } from "./role-draft";
import { RoleFace } from "./role-face";
import { RoleForm } from "./role-form";
import { RoleReading } from "./role-reading";
import { UnsavedGuard } from "./unsaved-guard";

export type RoleListed = Answers["roles"]["list"][number];
type Theirs = { role: RoleDefinition; revision: number };

export interface RoleEditorProps {
  /** What is saved; null for a role that does not exist yet. */
  saved: RoleListed | null;
  initial: RoleDefinition;
  /** Names that other roles have. */
  otherNames: readonly string[];
}

/** A role's form with its prompt beside it. Mount it with a key of the role's name. */
export function RoleEditor({ saved, initial, otherNames }: RoleEditorProps) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [base, setBase] = useState({ role: initial, revision: saved?.revision ?? 0 });
  const [draft, setDraft] = useState(initial);
  /** Counts replacements of the whole draft, so that its text parts begin anew. */
  const [generation, setGeneration] = useState(0);
  const [textFaults, setTextFaults] = useState<RoleFaults>({});
  const [tried, setTried] = useState(false);
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  // A new name changes the address, and with it this component's key: the guard must not ask on the way.
  const [leaving, setLeaving] = useState(false);

  const isNew = saved === null;
  /** A role that is read from a file is only changed there. */
  const file = saved?.origin?.file;
  const changed = isNew ? isChanged(draft, initial) : isChanged(draft, base.role);
  const faults = { ...roleFaults(tidied(draft), otherNames), ...textFaults };
  const faulty = Object.keys(faults).length > 0;
  // An empty form is no heap of errors: before the first try, only what was typed wrong is marked.
  const shown = tried
    ? faults
    : {
        ...textFaults,
        ...pick(faults, "system_prompt_template"),
        ...(draft.name ? pick(faults, "name") : {}),
      };

  const refresh = () => queryClient.invalidateQueries(trpc.roles.list.queryFilter());
  const onDone = (role: RoleDefinition, revision: number) => {
    setBase({ role, revision });
    setTried(false);
    setTheirs(null);
    void refresh();
    if (saved?.role.name !== role.name) {
      setLeaving(true);
      router.replace(`/roles?role=${encodeURIComponent(role.name)}`);
    }
  };
  const create = useMutation(
    trpc.roles.create.mutationOptions({
      onSuccess: (_answer, { role }) => {
        onDone(RoleDefinition.parse(role), 1);
        toast(`Created “${role.name}”`, { tone: "success" });
      },
    }),
  );
  const save = useMutation(
    trpc.roles.save.mutationOptions({
      onSuccess: ({ revision, workflows_changed }, { role }) => {
        onDone(RoleDefinition.parse(role), revision);
        toast(`Saved “${role.name}”`, {
          tone: "success",
          detail: workflows_changed > 0 ? `Its new name is in ${workflows_changed} workflows.` : undefined,
        });
      },
      onError: (error) => {
        const { code, message, detail } = toApiError(error);
        const found = code === "CONFLICT" ? toTheirs(detail) : null;
        if (found) setTheirs(found);
        else toast(message, { tone: "error" });
      },
    }),
  );
  const submit = (revision = base.revision) => {
    setTried(true);
    if (faulty) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    const role = tidied(draft);
    if (isNew) create.mutate({ role });
    else save.mutate({ name: saved.role.name, revision, role });
  };
  const replaceDraft = (role: RoleDefinition) => {
    setDraft(role);
    setTextFaults({});
    setTried(false);
    setGeneration((count) => count + 1);
  };
  const pending = create.isPending || save.isPending;

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      if (!file && (changed || isNew)) submit();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  });

  return (
    <form
      aria-label={isNew ? "New role" : `Role ${saved.role.name}`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      className="flex min-h-0 flex-1 flex-col"
    >
      <header className="flex shrink-0 items-center gap-3 border-b border-line px-4 py-3 sm:px-6">
        <RoleFace name={draft.name} icon={draft.icon} color={draft.color} size={28} />
        <h1 className="min-w-0 truncate text-[15px] font-semibold">{draft.name || "New role"}</h1>
        {file ? <Badge className="max-sm:hidden">{`From ${file}`}</Badge> : null}
        {saved?.builtin ? <Badge className="max-sm:hidden">Came with Troupe</Badge> : null}
        <span className="flex-1" />
        {changed && !isNew ? (
          <Button variant="ghost" onClick={() => replaceDraft(base.role)} className="max-sm:hidden">
            Discard
          </Button>
        ) : null}
        {file ? null : (
          <Button type="submit" variant="primary" pending={pending} disabled={!changed && !isNew}>
            {isNew ? "Create role" : "Save"}
          </Button>
        )}
        {saved ? <RoleMenu saved={saved} onLeave={() => setLeaving(true)} /> : null}
      </header>
      {file ? (
        <p role="status" className="border-b border-line bg-sunken px-4 py-3 text-sm text-ink-2 sm:px-6">
          This role is read from the file <code className="font-mono text-xs">{file}</code> in the folder of
          roles. It is changed there, or duplicate it to have one of your own.
        </p>
      ) : null}
      {theirs ? (
        <Conflict
          onTakeTheirs={() => {
            setBase(theirs);
            replaceDraft(theirs.role);
            setTheirs(null);
          }}
          onKeepMine={() => submit(theirs.revision)}
        />
      ) : null}
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="grid gap-8 px-4 py-6 sm:px-6 xl:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)]">
          {file ? (
            <RoleReading role={draft} />
          ) : (
            <RoleForm
              key={generation}
              role={draft}
              faults={shown}
              onChange={(change) => setDraft((role) => ({ ...role, ...change }))}
              onTextFault={(field, message) =>
                setTextFaults(({ [field]: _before, ...rest }) =>
                  message ? { ...rest, [field]: message } : rest,
                )
              }
            />
          )}
          <div className="flex flex-col gap-6 xl:sticky xl:top-0 xl:max-h-[calc(100dvh-7.5rem)] xl:self-start">
            <PromptPreview role={{ ...tidied(draft), name: draft.name.trim() || "…" }} />
            {saved ? <UsedBy uses={saved.used_by} /> : null}
          </div>
        </div>
      </div>
      <UnsavedGuard
        active={changed && !leaving && !pending}
        what={draft.name ? `“${draft.name}”` : "the new role"}
        onDiscard={() => setLeaving(true)}
      />
    </form>
  );
}

function pick(faults: RoleFaults, key: string): RoleFaults {
  return faults[key] ? { [key]: faults[key] } : {};
}

function toTheirs(detail: unknown): Theirs | null {
  const found = detail as { reason?: unknown; role?: unknown; revision?: unknown } | null;
  const role = RoleDefinition.safeParse(found?.role);
  return found?.reason === "stale" && role.success && typeof found.revision === "number"
    ? { role: role.data, revision: found.revision }
    : null;
}

function Conflict({ onTakeTheirs, onKeepMine }: { onTakeTheirs: () => void; onKeepMine: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 border-b border-line bg-waiting/10 px-6 py-3 text-sm"
    >
      <TriangleAlert aria-hidden="true" className="size-4 text-waiting" />
      <p className="min-w-0 flex-1">
        This role was changed in another place. Nothing of yours was saved yet.
      </p>
      <Button size="sm" onClick={onTakeTheirs}>
        Load the other version
      </Button>
      <Button size="sm" onClick={onKeepMine}>
        Save mine over it
      </Button>
    </div>
  );
}

function UsedBy({ uses }: { uses: RoleListed["used_by"] }) {
  return (
    <section aria-labelledby="role-used-by" className="shrink-0">
      <h3 id="role-used-by" className="mb-2 text-[13px] font-medium">
        Used by
      </h3>
      {uses.length === 0 ? (
        <p className="text-[13px] text-ink-3">No workflow names this role.</p>
      ) : (
        <WorkflowUses uses={uses} />
      )}
    </section>
  );
}

function RoleMenu({ saved, onLeave }: { saved: RoleListed; onLeave: () => void }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { name } = saved.role;
  const refresh = () => queryClient.invalidateQueries(trpc.roles.list.queryFilter());
  const duplicate = useMutation(
    trpc.roles.duplicate.mutationOptions({
      onSuccess: async (copy) => {
        await refresh();
        leaveTo(() => router.push(`/roles?role=${encodeURIComponent(copy.name)}`));
      },
    }),
  );
  const recreate = useMutation(trpc.roles.create.mutationOptions({ onSuccess: refresh }));
  const remove = useMutation(
    trpc.roles.remove.mutationOptions({
      onSuccess: () => {
        onLeave();
        router.replace("/roles");
        void refresh();
        toast(`Deleted “${name}”`, { undo: () => recreate.mutate({ role: saved.role }) });
      },
      onSettled: () => setAsking(false),
    }),
  );
  const download = async (format: "yaml" | "json") => {
    const { file_name, text } = await client.roles.export.query({ names: [name], format });
    downloadText(file_name, text);
  };
  const used = saved.used_by.length;
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton plain label={`Actions for ${name}`} icon={<Ellipsis aria-hidden="true" />} />}
        items={[
          { label: "Duplicate", icon: <Copy />, onSelect: () => duplicate.mutate({ name }) },
          { label: "Export as YAML", icon: <Download />, onSelect: () => void download("yaml") },
          { label: "Export as JSON", icon: <Download />, onSelect: () => void download("json") },
          ...(saved.origin
            ? []
            : ([
                "separator",
                {
                  label: "Delete",
                  icon: <Trash2 />,
                  danger: true,
                  onSelect: () => (used > 0 ? setAsking(true) : remove.mutate({ name })),
                },
              ] as const)),
        ]}
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        danger
        title={`Delete “${name}” although it is used?`}
        description={`${used === 1 ? "One workflow names" : `${used} workflows name`} this role and cannot run without it:`}
        confirm="Delete role"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ name, force: true })}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <ul tabIndex={0} className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5 text-sm">
          {saved.used_by.map((use) => (
            <li key={use.workflow_id}>{use.workflow_name}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  );
}
