"use client";

import { FormDialog } from "@/components/forms/form-dialog";
import { downloadText } from "@/components/page/download";
import { FindingList } from "./finding-list";
import type { LossyFile } from "./workflow-actions";

/** Lists what a file leaves out of its workflow, before the download. */
export function ExportDialog({ file, onClose }: { file: LossyFile; onClose: () => void }) {
  return (
    <FormDialog
      title="Not everything fits into this file"
      description="The workflow here keeps all of it; the file differs in what is listed."
      submit="Download"
      onSubmit={() => {
        downloadText(file.file_name, file.text);
        onClose();
      }}
      onClose={onClose}
    >
      <FindingList label="What the file does not hold" findings={file.losses} />
    </FormDialog>
  );
}
