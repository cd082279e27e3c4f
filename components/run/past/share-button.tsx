"use client";

import { Share } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { IconButton } from "@/components/ui/icon-button";

const ShareDialog = dynamic(() => import("./share-dialog").then((module) => module.ShareDialog), {
  ssr: false,
});

/** Opens the dialog that saves a run as one file. */
export function ShareButton({ runId }: { runId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton plain label="Share this run" icon={<Share aria-hidden />} onClick={() => setOpen(true)} />
      {isOpen ? <ShareDialog runId={runId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
