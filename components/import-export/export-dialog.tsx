"use client";

import { FormDialog } from "@/components/forms/form-dialog";
import { downloadText } from "@/components/page/download";
import { FindingList } from "./finding-list";
import type { LossyFile } from "./workflow-actions";

/** Lists what a file leaves out of its workflow, before the download. */
export function ExportDialog({ file, onClose }: { file: LossyFile; onClose: () => void }) {
  return (
    <FormDialog
      title="Incomplete export"
      description="Your workflow isn't changed. The file doesn't include:"
      submit="Download"
      onSubmit={() => {
        downloadText(file.file_name, file.text);
        onClose();
      }}
      onClose={onClose}
    >
      <FindingList label="Not in the file" findings={file.losses} />
    </FormDialog>
  );
}
