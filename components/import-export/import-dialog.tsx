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
  /** What is imported from here most of the time; files of other things come in all the same. */
  title?: string | undefined;
  placeholder?: string | undefined;
  /** Files that are there already: those that were dropped or pasted. */
  files?: readonly SentFile[] | undefined;
}

/** Imports files of any known format: shows what they would bring, change and lose, and saves only when told to. */
export function ImportDialog({
  onClose,
  title = "Import a workflow",
  placeholder = '{ "graph_id": … }',
  files: given,
}: ImportDialogProps) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [files, setFiles] = useState<readonly SentFile[]>(given ?? []);
  const [name, setName] = useState("");
  const [wish, setWish] = useState<Wish>({});
  const [allowed, setAllowed] = useState<string[]>([]);
  const { mutate: read, ...preview } = useMutation(
    trpc.imports.importFiles.mutationOptions({
      onSuccess: (found, { over }) => {
        // What was ticked already stays ticked under another choice, as far as it is still asked for.
        setAllowed((ticked) =>
          found.capabilities.flatMap(({ key, had }) => (had || ticked.includes(key) ? [key] : [])),
        );
        // Looked at again under another choice, it keeps the name that somebody gave it.
        if (over === undefined) setName((name) => name || found.name);
      },
      onError: () => {},
    }),
  );
  useEffect(() => {
    if (given !== undefined) read({ files: [...given] });
  }, [given, read]);
  const load = useMutation(
    trpc.imports.importFiles.mutationOptions({
      onSuccess: ({ done }) => {
        void queryClient.invalidateQueries();
        onClose();
        if (!done) return;
        const detail = [describeWithheld(done.withheld), describeLeftOut(done.left_out)]
          .filter(Boolean)
          .join(" ");
        const what =
          done.workflow_id === null
            ? `${done.created.length} added, ${done.replaced.length} replaced, ${done.skipped.length} left as they were`
            : `Imported “${name}”`;
        toast(what, { tone: "success", ...defined({ detail: detail || undefined }) });
        if (done.workflow_id !== null) router.push(`/workflows/${done.workflow_id}`);
      },
    }),
  );
  // Another choice asks again; what is shown stays until the answer is there.
  const [shown, setShown] = useState<Looked>();
  if (preview.data && preview.data !== shown) setShown(preview.data);
  const found = preview.data ?? (preview.isPending && files.length > 0 ? shown : undefined);
  const change = (next: Wish) => {
    // Another of several things has another name.
    if (next.pick !== wish.pick) setName("");
    setWish(next);
    read({ files: [...files], ...next });
  };
  const action = found ? actionOf(found, wish) : null;

  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title={title}
      description={
        found
          ? "Nothing is saved yet."
          : "Files of Troupe, OpenHands, CrewAI and other frameworks: one, several, a folder or a zip."
      }
      footer={
        found ? (
          <>
            <Button onClick={() => (given === undefined ? preview.reset() : onClose())}>
              {given === undefined ? "Back" : "Cancel"}
            </Button>
            <Button
              variant="primary"
              disabled={action === null || (found.graph !== null && name.trim() === "")}
              pending={load.isPending}
              onClick={() =>
                load.mutate({
                  files: [...files],
                  ...wish,
                  ...defined({ name: found.graph ? name.trim() : undefined }),
                  allow: allowed,
                  confirm: true,
                })
              }
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
          name={name}
          onName={setName}
          wish={wish}
          onWish={change}
          allowed={allowed}
          onAllowed={setAllowed}
        />
      ) : (
        <FileSource
          placeholder={placeholder}
          error={preview.error ? toApiError(preview.error).message : undefined}
          pending={preview.isPending}
          onFiles={(next) => {
            setFiles(next);
            setName("");
            setAllowed([]);
            setWish({});
            read({ files: next });
          }}
        />
      )}
    </Dialog>
  );
}

/** What the button does, in its words; null where there is nothing to do. */
function actionOf({ ok, graph, roles, crews, agents }: Looked, wish: Wish): string | null {
  if (!ok) return null;
  if (graph) return wish.over === undefined ? "Import workflow" : "Replace mine";
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

/** Says what an imported workflow may not use yet. */
const describeWithheld = (withheld: readonly string[]): string =>
  withheld.length === 0
    ? ""
    : `It cannot run yet: it may not use ${withheld.length} ${withheld.length === 1 ? "thing" : "things"} that it asks for. The problems on the left allow them.`;

/** Says which tools roles came without; undefined where they have all. */
function describeLeftOut(
  left_out: readonly { role: string; tools: readonly string[] }[],
): string | undefined {
  if (left_out.length === 0) return undefined;
  const each = left_out.map(({ role, tools }) => `${role} came without ${tools.join(", ")}`);
  return `${each.join("; ")}. What a role may use can be ticked on the Roles page.`;
}
