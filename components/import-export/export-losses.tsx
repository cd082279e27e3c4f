"use client";

import dynamic from "next/dynamic";
import type { WorkflowActions } from "./workflow-actions";

const ExportDialog = dynamic(() => import("./export-dialog").then((m) => m.ExportDialog), { ssr: false });

/** Asks before downloading a file that leaves out parts of its workflow. Render it wherever exports are offered. */
export function ExportLosses({ actions: { lossy, settleLossy } }: { actions: WorkflowActions }) {
  return lossy ? <ExportDialog file={lossy} onClose={settleLossy} /> : null;
}
