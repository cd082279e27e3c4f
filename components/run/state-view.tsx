"use client";

import clsx from "clsx";
import { Database, Pencil, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import type { Json } from "@/server/domain/base/values";
import { usePaused } from "./control/use-control";
import { FoldedKeyHistory } from "./past/key-history";
import { useRun, useRunList } from "./run-context";
import { useRunPage } from "./run-page-context";
import { ValueView } from "./values";

const EditKey = dynamic(() => import("./control/edit-state").then((m) => m.EditKey), { ssr: false });

/** The run's state as of the cursor: each key, its value and who wrote it. */
export function StateView({
  onSelectNode,
}: {
  onSelectNode: (nodeId: string, activationId: string) => void;
}) {
  const keys = useRunList<string>(({ state }) => Object.keys(state.state));
  const canEdit = useCanEditState();
  if (keys.length === 0)
    return (
      <>
        <EmptyState icon={<Database />} title="No state yet">
          Values written by nodes appear here.
        </EmptyState>
        {canEdit ? <AddKey /> : null}
      </>
    );
  return (
    <>
      <dl aria-label="Run state" className="flex flex-col divide-y divide-line">
        {keys.map((key) => (
          <StateKeyView key={key} name={key} onSelectNode={onSelectNode} />
        ))}
      </dl>
      {canEdit ? <AddKey /> : null}
    </>
  );
}

/** A paused run's state can be changed, where one looks at the present. */
function useCanEditState(): boolean {
  const isPaused = usePaused() !== null;
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const page = useRunPage();
  return page !== null && !page.held && isPaused && !isPast;
}

function AddKey() {
  const page = useRunPage();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="border-t border-line px-4 py-3">
      {isOpen && page ? (
        <EditKey runId={page.runId} name={null} value={undefined} onDone={() => setOpen(false)} />
      ) : (
        <Button size="sm" variant="ghost" icon={<Plus aria-hidden />} onClick={() => setOpen(true)}>
          Add key
        </Button>
      )}
    </div>
  );
}

function StateKeyView({
  name,
  onSelectNode,
}: {
  name: string;
  onSelectNode: (nodeId: string, activationId: string) => void;
}) {
  const value = useRun<Json | undefined>(({ state }) => state.state[name], undefined);
  const writer = useRun(({ state }) => state.writer[name] ?? "input", "input");
  const [nodeId = "", turn = "1"] = writer.split("#");
  const nodeName = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  const isNow = useRun(({ cursor, events, state }) => {
    const event = events[(cursor ?? state.seq) - 1];
    if (event?.type === "state_edited") return Object.hasOwn(event.payload.set, name);
    return (
      event?.type === "state_patched" &&
      Object.hasOwn({ ...event.payload.set, ...event.payload.changed }, name)
    );
  }, false);
  const canEdit = useCanEditState();
  const page = useRunPage();
  const [isEditing, setEditing] = useState(false);
  if (value === undefined) return null;
  return (
    <div className={clsx("min-w-0 px-4 py-3 transition-colors duration-500", isNow && "bg-accent-soft")}>
      <dt className="mb-1.5 flex items-baseline gap-2">
        <span className="min-w-0 truncate font-mono text-[13px] font-medium">{name}</span>
        <span className="ml-auto shrink-0 text-xs text-ink-3">
          {writer === "input" ? (
            "from the input"
          ) : writer === "person" ? (
            "changed by a person"
          ) : (
            <>
              by{" "}
              <button
                type="button"
                onClick={() => onSelectNode(nodeId, writer)}
                className="font-medium text-ink-2 underline-offset-2 hover:text-accent hover:underline"
              >
                {nodeName}
                {turn === "1" ? "" : ` ×${turn}`}
              </button>
            </>
          )}
        </span>
        {canEdit && !isEditing ? (
          <IconButton
            label={`Edit ${name}`}
            size="sm"
            plain
            icon={<Pencil aria-hidden />}
            className="-my-1 self-center"
            onClick={() => setEditing(true)}
          />
        ) : null}
      </dt>
      <dd className="min-w-0">
        {canEdit && isEditing && page ? (
          <EditKey runId={page.runId} name={name} value={value} onDone={() => setEditing(false)} />
        ) : (
          <ValueView value={value} label={name} />
        )}
      </dd>
      <dd className="mt-1 min-w-0">
        <FoldedKeyHistory name={name} />
      </dd>
    </div>
  );
}
