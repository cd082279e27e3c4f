"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";

const ShareDialog = dynamic(() => import("./share-dialog").then((module) => module.ShareDialog), {
  ssr: false,
});

/** The dialog that saves a run as one file. */
export function useShare(runId: string): { open: () => void; dialog: ReactNode } {
  const [isOpen, setOpen] = useState(false);
  return {
    open: () => setOpen(true),
    dialog: isOpen ? <ShareDialog runId={runId} onClose={() => setOpen(false)} /> : null,
  };
}
