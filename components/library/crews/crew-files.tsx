"use client";

import { FileDown, FileUp } from "lucide-react";
import { ImportDoor, useImporting } from "@/components/import-export/import-door";
import { downloadText } from "@/components/page/download";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";

/** Brings crews and agents in from files, by a button or dropped anywhere, and hands all of a list out. */
export function CrewFiles({
  what,
  file,
}: {
  what: "crews" | "agents";
  /** Absent: there is nothing to hand out. */
  file: ((format: "yaml" | "json") => Promise<{ file_name: string; text: string }>) | undefined;
}) {
  const importing = useImporting();
  const download = async (format: "yaml" | "json") => {
    const written = await file?.(format);
    if (written) downloadText(written.file_name, written.text);
  };
  return (
    <>
      <IconButton
        label={`Import ${what}`}
        icon={<FileDown aria-hidden="true" />}
        onClick={() => importing.open()}
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
      <ImportDoor
        importing={importing}
        what={what}
        title={`Import ${what}`}
        placeholder={"crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor"}
      />
    </>
  );
}
