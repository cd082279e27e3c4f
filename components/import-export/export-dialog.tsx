"use client";

import { downloadText } from "@/components/page/download";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { FindingList } from "./finding-list";
import type { LossyFile } from "./workflow-actions";

/** Says what a file leaves out of its workflow, before it is downloaded. */
export function ExportDialog({ file, onClose }: { file: LossyFile; onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Not everything fits into this file"
      description="The workflow here keeps all of it; the file differs in what is listed."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            onClick={() => {
              downloadText(file.file_name, file.text);
              onClose();
            }}
          >
            Download
          </Button>
        </>
      }
    >
      <FindingList label="What the file does not hold" findings={file.losses} />
    </Dialog>
  );
}
