"use client";

import { createContext, useContext } from "react";
import type { QuarantineReason } from "@/server/domain/run/quarantine";

/** What parts of a run's page can ask of the page around them. */
export interface RunPage {
  runId: string;
  /** Why the run is put aside: nothing of it goes on by itself. Null where it is not. */
  held: QuarantineReason | null;
  /** Shows a file of the run's workspace. */
  openFile: (path: string) => void;
  /** Opens the crew of a node on the drawing. */
  openCrew: (nodeId: string) => void;
  /** Shows a node's part in the run. */
  openNode: (nodeId: string) => void;
  /** Opens the tab with the open questions. */
  openAsks: () => void;
  /** The run goes on after it had ended. */
  onResumed: () => void;
}

const RunPageContext = createContext<RunPage | null>(null);

export const RunPageProvider = RunPageContext.Provider;

/** The page around, or null where a run's parts are shown elsewhere. */
export const useRunPage = (): RunPage | null => useContext(RunPageContext);
