"use client";

import { useState } from "react";
import { downloadText } from "@/components/page/download";
import { useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { copyText } from "@/components/ui/json-view";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { toast } from "@/components/ui/toasts";

/** Hands out some or all roles as one file. */
export function RoleExportDialog({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const client = useTrpcClient();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [format, setFormat] = useState<"yaml" | "json">("yaml");
  const chosen = names.filter((name) => !left.has(name));
  const file = () => client.roles.export.query({ names: chosen, format });
  const toggle = (name: string) => {
    const next = new Set(left);
    if (!next.delete(name)) next.add(name);
    setLeft(next);
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Export roles"
      footer={
        <>
          <Button
            disabled={chosen.length === 0}
            onClick={async () => {
              await copyText((await file()).text);
              toast("Copied");
            }}
          >
            Copy
          </Button>
          <Button
            variant="primary"
            disabled={chosen.length === 0}
            onClick={async () => {
              const { file_name, text } = await file();
              downloadText(file_name, text);
              onClose();
            }}
          >
            {`Download ${chosen.length} ${chosen.length === 1 ? "role" : "roles"}`}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <SegmentedControl
          label="Format"
          value={format}
          onValueChange={setFormat}
          className="self-start"
          options={[
            { value: "yaml", label: "YAML" },
            { value: "json", label: "JSON" },
          ]}
        />
        <Checkbox
          label="All roles"
          checked={left.size === 0}
          indeterminate={left.size > 0 && chosen.length > 0}
          onCheckedChange={(all) => setLeft(new Set(all ? [] : names))}
        />
        <ul className="-mt-1 flex flex-col gap-2 border-t border-line pt-3">
          {names.map((name) => (
            <li key={name}>
              <Checkbox label={name} checked={!left.has(name)} onCheckedChange={() => toggle(name)} />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
