"use client";

import { FileDown, FileUp } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { DropZone } from "@/components/import-export/drop-zone";
import { downloadText } from "@/components/page/download";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";

const CrewImportDialog = dynamic(() => import("./crew-import-dialog").then((m) => m.CrewImportDialog), {
  ssr: false,
});

/** Brings crews and agents in from files, by a button or dropped anywhere, and hands all of a list out. */
export function CrewFiles({
  what,
  file,
}: {
  what: "crews" | "agents";
  /** Absent: there is nothing to hand out. */
  file: ((format: "yaml" | "json") => Promise<{ file_name: string; text: string }>) | undefined;
}) {
  const [importing, setImporting] = useState<{ text?: string } | null>(null);
  const download = async (format: "yaml" | "json") => {
    const written = await file?.(format);
    if (written) downloadText(written.file_name, written.text);
  };
  return (
    <>
      <IconButton
        label={`Import ${what}`}
        icon={<FileDown aria-hidden="true" />}
        onClick={() => setImporting({})}
      />
      {file ? (
        <Menu
          align="end"
          trigger={<IconButton plain label={`Export all ${what}`} icon={<FileUp aria-hidden="true" />} />}
          items={[
            { label: "As YAML", onSelect: () => void download("yaml") },
            { label: "As JSON", onSelect: () => void download("json") },
          ]}
        />
      ) : null}
      <DropZone what={what} onText={(text) => setImporting({ text })} />
      {importing ? (
        <CrewImportDialog key={importing.text} text={importing.text} onClose={() => setImporting(null)} />
      ) : null}
    </>
  );
}
