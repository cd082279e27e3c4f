"use client";

import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/json-view";
import { Dialog } from "@/components/ui/overlay/dialog";

/** Shows a new secret once, to copy it. `what`: such as "token". `command`: one that uses it. */
export function SecretDialog({
  what,
  secret,
  command,
  description,
  onClose,
}: {
  what: string;
  secret: string;
  command?: string | undefined;
  description: string;
  onClose: () => void;
}) {
  const row = (label: string, text: string) => (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
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
      <div className="flex flex-col gap-3">
        {row(`Copy ${what}`, secret)}
        {command === undefined ? null : row("Copy command", command)}
      </div>
    </Dialog>
  );
}
