"use client";

import { Minus, MoveRight, Pencil, Plus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { formatList } from "@/components/display/format";
import { toApiError, useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { type Clash, mergeVersions, type Version } from "@/server/domain/graph/merge";
import { type Difference, differences } from "@/server/domain/graph/version/differences";
import { useEditor, useEditorStore } from "../editing/editor-store";

/** Someone else saved this workflow: shows both versions and asks which to keep. */
export function ConflictDialog({ onSettled }: { onSettled: () => void }) {
  const save = useEditor((state) => state.save);
  return save.state === "conflict" ? (
    <Open theirs={save.theirs} revision={save.revision} onSettled={onSettled} />
  ) : null;
}

function Open({ theirs, revision, onSettled }: { theirs: Version; revision: number; onSettled: () => void }) {
  const store = useEditorStore();
  const client = useTrpcClient();
  const router = useRouter();
  const [base] = useState(() => store.getState().savedDoc);
  const [isPending, setPending] = useState(false);
  const mine = useEditor(({ doc }) => doc);
  const takeTheirs = () => {
    store.getState().adopt(theirs, revision);
    onSettled();
  };
  const { merged, clashes } = mergeVersions(base, mine, theirs);
  const keepBoth = () => {
    if (!merged) return;
    store.getState().merge(merged, theirs, revision);
    onSettled();
  };
  const keepMine = () => {
    store.getState().rebase(theirs, revision);
    onSettled();
  };
  const saveCopy = async () => {
    setPending(true);
    try {
      const name = `${mine.name.slice(0, 185)} (my version)`;
      const { id } = await client.workflows.create.mutate({ name, graph: mine.graph });
      takeTheirs();
      toast(`Saved “${name}”`, {
        action: { label: "Open", onSelect: () => router.push(`/workflows/${id}`) },
      });
    } catch (error) {
      setPending(false);
      toast(toApiError(error).message, { tone: "error" });
    }
  };
  return (
    <Dialog
      open
      sticky
      size="lg"
      title="Workflow changed elsewhere"
      description="Another tab or person saved changes while you were editing. Choose which version to keep."
      footer={
        <>
          <Button variant="danger" className="sm:mr-auto" onClick={keepMine} disabled={isPending}>
            Overwrite with mine
          </Button>
          <Button onClick={takeTheirs} disabled={isPending}>
            Use theirs
          </Button>
          <Button
            variant={merged ? "secondary" : "primary"}
            onClick={() => void saveCopy()}
            pending={isPending}
          >
            Save mine as copy
          </Button>
          {merged ? (
            <Button variant="primary" onClick={keepBoth} disabled={isPending}>
              Keep both
            </Button>
          ) : null}
        </>
      }
    >
      <p className="mb-3 text-[13px] text-ink-2">
        {merged
          ? "The changes don't conflict, so both can be kept."
          : `Both versions changed ${formatList(describeClashes(clashes, mine.graph, theirs.graph))}. Choose one.`}
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Side title="Yours" list={differences(base, mine)} />
        <Side title="Theirs" list={differences(base, theirs)} />
      </div>
    </Dialog>
  );
}

function describeClashes(
  clashes: readonly Clash[],
  mine: WorkflowGraph,
  theirs: WorkflowGraph,
): readonly string[] {
  const nameOf = (id: string) => mine.nodes[id]?.name || theirs.nodes[id]?.name || id;
  const labels = clashes.map(({ kind, id }) =>
    kind === "node"
      ? `“${nameOf(id)}”`
      : kind === "edge"
        ? "a connection"
        : kind === "name"
          ? "the name"
          : "the workflow settings",
  );
  return [...new Set(labels)];
}

const icons = { added: Plus, removed: Minus, changed: Pencil, moved: MoveRight };
const CHANGE_LABELS = { added: "Added", removed: "Removed", changed: "Changed", moved: "Moved" };

function Side({ title, list }: { title: string; list: readonly Difference[] }) {
  return (
    <section aria-label={`${title}: changes`} className="rounded-lg border border-line p-3">
      <h3 className="mb-2 text-[13px] font-semibold">{title}</h3>
      {list.length === 0 && <p className="text-[13px] text-ink-3">No visible changes</p>}
      <ul className="flex flex-col gap-1">
        {list.slice(0, 40).map(({ kind, text, details }, at) => {
          const Icon = icons[kind];
          return (
            <li key={at} className="flex items-start gap-2 text-[13px]">
              <Icon aria-label={CHANGE_LABELS[kind]} className="mt-0.5 size-3.5 shrink-0 text-ink-3" />
              <span className="min-w-0 [overflow-wrap:anywhere]">
                {text}
                {details ? <span className="block text-xs text-ink-3">{details}</span> : null}
              </span>
            </li>
          );
        })}
      </ul>
      {list.length > 40 && <p className="mt-1 text-xs text-ink-3">and {list.length - 40} more</p>}
    </section>
  );
}
