"use client";

import { useMutation } from "@tanstack/react-query";
import { Copy, Download, Trash2 } from "lucide-react";
import { downloadText } from "@/components/page/download";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { toast } from "@/components/ui/toasts";
import { countUses, type Use } from "@/server/domain/library/uses";
import { useEditorPlace } from "./place";
import type { Version } from "./use-draft";

/** The server calls for items of one kind. `key`: a name (roles) or an id. */
export interface LibraryCalls<T> {
  /** Returns its key. */
  create(content: T): Promise<string>;
  /** `detail`: what else the save changed. */
  save(
    key: string,
    content: T,
    revision: number,
  ): Promise<{ key: string; revision: number; detail?: string | undefined }>;
  get(key: string): Promise<Version<T>>;
  /** Returns the key of the copy. */
  duplicate(key: string): Promise<string>;
  restore(content: T): Promise<unknown>;
  /** `force`: even if it is used. */
  remove(key: string, force: boolean): Promise<unknown>;
  file(key: string, format: "yaml" | "json"): Promise<{ file_name: string; text: string }>;
  /** Refetches the lists that show it. */
  invalidate(): Promise<unknown>;
}

export interface LibraryMenuProps<T> {
  noun: "role" | "agent" | "crew";
  saved: { key: string; content: T; used_by: readonly Use[] };
  calls: LibraryCalls<T>;
  /** What happens to its users when it is deleted, such as "cannot run without it". */
  loss: string;
  canDelete: boolean;
  onLeave: () => void;
}

/** Duplicates, exports and deletes a library item. */
export function LibraryMenu<T extends { name: string }>(props: LibraryMenuProps<T>) {
  const { noun, calls, saved, loss, canDelete, onLeave } = props;
  const { key, content, used_by } = saved;
  const place = useEditorPlace(`/${noun}s`, noun);
  const duplicate = useMutation({
    mutationFn: calls.duplicate,
    onSuccess: async (copy) => {
      await calls.invalidate();
      place.show(copy);
    },
  });
  const restore = useMutation({ mutationFn: calls.restore, onSettled: calls.invalidate });
  const remove = useMutation({
    mutationFn: (force: boolean) => calls.remove(key, force),
    onSuccess: () => {
      onLeave();
      place.close();
      void calls.invalidate();
      toast(`Deleted “${content.name}”`, { undo: () => restore.mutate(content) });
    },
  });
  const removal = useConfirm({
    danger: true,
    title: `Delete “${content.name}”?`,
    description: `${countUses(used_by)} ${used_by.length === 1 ? "references" : "reference"} this ${noun} and ${loss}:`,
    confirm: `Delete ${noun}`,
    onConfirm: () => remove.mutateAsync(true),
    children: (
      <ul tabIndex={0} className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5 text-sm">
        {used_by.map((use) => (
          <li key={`${use.kind} ${use.id}`}>{use.name}</li>
        ))}
      </ul>
    ),
  });
  const download = async (format: "yaml" | "json") => {
    const { file_name, text } = await calls.file(key, format);
    downloadText(file_name, text);
  };
  return (
    <>
      <MoreMenu
        label={`Actions for ${content.name}`}
        items={[
          { label: "Duplicate", icon: <Copy />, onSelect: () => duplicate.mutate(key) },
          { label: "Export as YAML", icon: <Download />, onSelect: () => void download("yaml") },
          { label: "Export as JSON", icon: <Download />, onSelect: () => void download("json") },
          ...(canDelete
            ? ([
                "separator",
                {
                  label: "Delete",
                  icon: <Trash2 />,
                  danger: true,
                  onSelect: () => (used_by.length > 0 ? removal.open() : remove.mutate(false)),
                },
              ] as const)
            : []),
        ]}
      />
      {removal.dialog}
    </>
  );
}
