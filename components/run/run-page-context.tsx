"use client";

import { createContext, useContext } from "react";
import type { QuarantineReason } from "@/server/domain/run/quarantine";

/** What parts of a run's page can ask the page to do. */
export interface RunPage {
  runId: string;
  /** Why the run is quarantined; null if it isn't. */
  held: QuarantineReason | null;
  /** Shows a file of the run's workspace. */
  openFile: (path: string) => void;
  /** Opens the crew of a node on the canvas. */
  openCrew: (nodeId: string) => void;
  /** Shows a node's part in the run. */
  openNode: (nodeId: string) => void;
  /** Opens the tab with the open questions. */
  openAsks: () => void;
  /** The run continues after it had ended. */
  onResumed: () => void;
}

const RunPageContext = createContext<RunPage | null>(null);

export const RunPageProvider = RunPageContext.Provider;

/** The page, or null outside of a run's page. */
export const useRunPage = (): RunPage | null => useContext(RunPageContext);
