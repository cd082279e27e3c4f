import { createContext, useContext } from "react";
import { defined } from "@/server/domain/base/defined";

export type LibraryKind = "role" | "agent" | "crew";

/** A thing of the library to write or to change without leaving where one is. */
export interface SheetRequest {
  kind: LibraryKind;
  /** Its name (a role) or its id; null: a new one. */
  id: string | null;
  /** What a new one is called. */
  name?: string;
  /** It was saved under this name or id. */
  onSaved?: (id: string) => void;
}

/** Opens a thing of the library in a sheet over the page; null where no page offers that. */
export const LibrarySheetsContext = createContext<((request: SheetRequest) => void) | null>(null);

export const useLibrarySheets = () => useContext(LibrarySheetsContext);

/** The last row of a picker: makes what was searched for, and chooses it once it is saved. */
export function useCreate(kind: LibraryKind, onSaved: (id: string) => void) {
  const open = useLibrarySheets();
  if (!open) return undefined;
  return {
    label: (text: string) => (text === "" ? `New ${kind}…` : `Create “${text}”…`),
    onCreate: (name: string) => open(defined({ kind, id: null, name: name || undefined, onSaved })),
  };
}
