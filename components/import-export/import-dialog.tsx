"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { FileSource } from "./file-source";
import { ImportPreview, type Looked, type Wish } from "./import-preview";
import type { SentFile } from "./sent-files";

interface ImportDialogProps {
  onClose: () => void;
  /** Names what is usually imported here; other files work, too. */
  title?: string | undefined;
  placeholder?: string | undefined;
  /** Files that were dropped or pasted. */
  files?: readonly SentFile[] | undefined;
}

/** Imports files of any known format. Shows what they would add, change and lose before it saves anything. */
export function ImportDialog({
  onClose,
  title = "Import a workflow",
  placeholder = '{ "graph_id": … }',
  files: given,
}: ImportDialogProps) {
  const { found, choices, set, load, ...preview } = useImportForm(given, onClose);
  const action = found ? actionOf(found, choices.wish) : null;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title={found ? titleOf(found) : title}
      description={
        found
          ? "Review before importing. Nothing is saved yet."
          : "Import files, folders or zips from Troupe, OpenHands, CrewAI and others."
      }
      footer={
        found ? (
          <>
            <Button onClick={() => (given === undefined ? preview.reset() : onClose())}>
              {given === undefined ? "Back" : "Cancel"}
            </Button>
            <Button
              variant="primary"
              disabled={action === null || (found.graph !== null && choices.name.trim() === "")}
              pending={load.isPending}
              onClick={load.submit}
            >
              {action ?? "Nothing to import"}
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <ImportPreview
          found={found}
          name={choices.name}
          onName={(name) => set({ name })}
          wish={choices.wish}
          onWish={preview.change}
          allowed={choices.allowed}
          onAllowed={(allowed) => set({ allowed })}
        />
      ) : (
        <FileSource
          placeholder={placeholder}
          error={preview.error ? toApiError(preview.error).message : undefined}
          pending={preview.isPending}
          onFiles={preview.start}
        />
      )}
    </Dialog>
  );
}

interface Choices {
  name: string;
  wish: Wish;
  /** Keys of the capabilities that are allowed. */
  allowed: string[];
}
const NO_CHOICES: Choices = { name: "", wish: {}, allowed: [] };

/** Reads the files without saving anything, again after each choice. Meanwhile the last preview stays. */
function useImportForm(given: readonly SentFile[] | undefined, onClose: () => void) {
  const [files, setFiles] = useState<readonly SentFile[]>(given ?? []);
  const [choices, setChoices] = useState(NO_CHOICES);
  const set = (patch: Partial<Choices>) => setChoices((before) => ({ ...before, ...patch }));
  const {
    mutate: read,
    data,
    isPending,
    error,
    reset,
  } = useMutation(
    useTrpc().imports.importFiles.mutationOptions({
      onSuccess: ({ name, capabilities }, { over }) =>
        setChoices((before) => ({
          ...before,
          // Keep a name that someone entered, and what is still asked for ticked.
          name: over === undefined ? before.name || name : before.name,
          allowed: capabilities.flatMap(({ key, had }) => (had || before.allowed.includes(key) ? [key] : [])),
        })),
      onError: () => {},
    }),
  );
  useEffect(() => {
    if (given !== undefined) read({ files: [...given] });
  }, [given, read]);
  const [last, setLast] = useState<Looked>();
  if (data && data !== last) setLast(data);
  const found = data ?? (isPending ? last : undefined);
  const { name, wish, allowed } = choices;
  const load = useImport(name, onClose);
  return {
    ...{ found, choices, set, isPending, error, reset },
    start(next: SentFile[]) {
      setFiles(next);
      setChoices(NO_CHOICES);
      read({ files: next });
    },
    change(next: Wish) {
      // Each of several workflows has its own name.
      set({ wish: next, ...(next.pick === wish.pick ? {} : { name: "" }) });
      read({ files: [...files], ...next });
    },
    load: {
      isPending: load.isPending,
      submit: () =>
        load.mutate({
          files: [...files],
          ...wish,
          ...defined({ name: found?.graph ? name.trim() : undefined }),
          allow: allowed,
          confirm: true,
        }),
    },
  };
}

/** Saves what the preview showed, and opens the workflow if it is one. */
function useImport(name: string, onClose: () => void) {
  const router = useRouter();
  const queryClient = useQueryClient();
  return useMutation(
    useTrpc().imports.importFiles.mutationOptions({
      onSuccess: ({ done }) => {
        void queryClient.invalidateQueries();
        onClose();
        if (!done) return;
        const detail = [describeWithheld(done.withheld), describeLeftOut(done.left_out)]
          .filter(Boolean)
          .join(" ");
        const what =
          done.workflow_id === null
            ? `${done.created.length} added, ${done.replaced.length} replaced, ${done.skipped.length} unchanged`
            : `Imported “${name}”`;
        toast(what, { tone: "success", ...defined({ detail: detail || undefined }) });
        if (done.workflow_id !== null) router.push(`/workflows/${done.workflow_id}`);
      },
    }),
  );
}

/** Names what the files contain, whatever they were chosen for. */
function titleOf({ graph, crews, agents, roles }: Looked): string {
  if (graph) return "Import a workflow";
  const kinds = Object.entries({ crews, agents, roles }).flatMap(([kind, { length }]) =>
    length > 0 ? [kind] : [],
  );
  return `Import ${listed(kinds) || "files"}`;
}

/** The label of the button; null if there is nothing to import. */
function actionOf({ ok, graph, roles, crews, agents }: Looked, wish: Wish): string | null {
  if (!ok) return null;
  if (graph) return wish.over === undefined ? "Import workflow" : "Replace existing";
  const coming = (things: readonly { state: string }[], isReplacing: boolean) =>
    things.filter(({ state }) => state === "new" || (state === "differs" && isReplacing)).length;
  const isReplacing = wish.existing === "replace";
  const counts = [
    [coming(crews, isReplacing), "crew"],
    [coming(agents, isReplacing), "agent"],
    [coming(roles, wish.roles === "replace"), "role"],
  ] as const;
  const parts = counts.flatMap(([count, word]) =>
    count > 0 ? [`${count} ${word}${count === 1 ? "" : "s"}`] : [],
  );
  return parts.length > 0 ? `Import ${listed(parts)}` : null;
}

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** Which capabilities an imported workflow still lacks. */
const describeWithheld = (withheld: readonly string[]): string =>
  withheld.length === 0
    ? ""
    : `It can't run yet: ${withheld.length} ${withheld.length === 1 ? "permission is" : "permissions are"} missing. Allow what is missing under Problems on the left.`;

/** Which tools roles were imported without; undefined if none. */
function describeLeftOut(
  left_out: readonly { role: string; tools: readonly string[] }[],
): string | undefined {
  if (left_out.length === 0) return undefined;
  const each = left_out.map(({ role, tools }) => `${role} was imported without ${tools.join(", ")}`);
  return `${each.join("; ")}. Select a role's tools on the Roles page.`;
}
