"use client";

import { Copy, Download, Ellipsis, Trash2 } from "lucide-react";
import { useState } from "react";
import { downloadText } from "@/components/page/download";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { countUses, type Use } from "@/server/domain/library/uses";

export interface LibraryMenuProps {
  /** What it is, such as "role". */
  noun: string;
  name: string;
  uses: readonly Use[];
  onDuplicate: () => void;
  file: (format: "yaml" | "json") => Promise<{ file_name: string; text: string }>;
  /** What becomes of those who use it, such as "cannot run without it". */
  loss: string;
  /** Absent: it cannot be deleted here. `force`: although it is used. */
  onDelete?: ((force: boolean) => Promise<unknown>) | undefined;
}

/** What can be done with a role, an agent or a crew as a whole. */
export function LibraryMenu({ noun, name, uses, onDuplicate, file, loss, onDelete }: LibraryMenuProps) {
  const [isAsking, setAsking] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const download = async (format: "yaml" | "json") => {
    const { file_name, text } = await file(format);
    downloadText(file_name, text);
  };
  const remove = async () => {
    setDeleting(true);
    // The page says what went wrong.
    await onDelete?.(true).catch(() => undefined);
    setDeleting(false);
    setAsking(false);
  };
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton plain label={`Actions for ${name}`} icon={<Ellipsis aria-hidden="true" />} />}
        items={[
          { label: "Duplicate", icon: <Copy />, onSelect: onDuplicate },
          { label: "Export as YAML", icon: <Download />, onSelect: () => void download("yaml") },
          { label: "Export as JSON", icon: <Download />, onSelect: () => void download("json") },
          ...(onDelete
            ? ([
                "separator",
                {
                  label: "Delete",
                  icon: <Trash2 />,
                  danger: true,
                  onSelect: () =>
                    uses.length > 0 ? setAsking(true) : void onDelete(false).catch(() => undefined),
                },
              ] as const)
            : []),
        ]}
      />
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        danger
        title={`Delete “${name}” although it is used?`}
        description={`${capital(countUses(uses))} ${uses.length === 1 ? "names" : "name"} this ${noun} and ${loss}:`}
        confirm={`Delete ${noun}`}
        pending={isDeleting}
        onConfirm={() => void remove()}
      >
        <ul tabIndex={0} className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5 text-sm">
          {uses.map((use) => (
            <li key={`${use.kind} ${use.id}`}>{use.name}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  );
}

/** A single one is told in a word: 1 workflow -> One workflow. */
const capital = (count: string) => count.replace(/^1 (\w+)$/, "One $1");
