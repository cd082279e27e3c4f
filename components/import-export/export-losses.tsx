"use client";

import dynamic from "next/dynamic";
import type { WorkflowActions } from "./workflow-actions";

const ExportDialog = dynamic(() => import("./export-dialog").then((m) => m.ExportDialog), { ssr: false });

/** Asks before a file is downloaded that does not hold all of its workflow. Stands wherever exports are offered. */
export function ExportLosses({ actions: { lossy, settleLossy } }: { actions: WorkflowActions }) {
  return lossy ? <ExportDialog file={lossy} onClose={settleLossy} /> : null;
}
