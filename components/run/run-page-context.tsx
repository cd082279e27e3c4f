"use client";

import { createContext, useContext } from "react";

/** What parts of a run's page can ask of the page around them. */
export interface RunPage {
  runId: string;
  /** The run is put aside: nothing of it goes on by itself. */
  isHeld: boolean;
  /** Shows a file of the run's workspace. */
  openFile: (path: string) => void;
  /** Opens the crew of a node on the drawing. */
  openCrew: (nodeId: string) => void;
}

const RunPageContext = createContext<RunPage | null>(null);

export const RunPageProvider = RunPageContext.Provider;

/** The page around, or null where a run's parts are shown elsewhere. */
export const useRunPage = (): RunPage | null => useContext(RunPageContext);
