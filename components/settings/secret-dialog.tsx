"use client";

import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/json-view";
import { Dialog } from "@/components/ui/overlay/dialog";

/** Shows a new secret once, to copy it. `what`: such as "token". */
export function SecretDialog({
  what,
  secret,
  description,
  onClose,
}: {
  what: string;
  secret: string;
  description: string;
  onClose: () => void;
}) {
  return (
    <Dialog
      open
      sticky
      onOpenChange={onClose}
      title={`Copy the ${what} now`}
      description={`It won't be shown again. ${description}`}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{secret}</code>
        <CopyButton text={secret} label={`Copy ${what}`} />
      </div>
    </Dialog>
  );
}
