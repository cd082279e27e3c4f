import { createContext, useContext } from "react";
import { defined } from "@/server/domain/base/defined";

export type LibraryKind = "role" | "agent" | "crew";

/** A library item to create or edit without leaving the page. */
export interface SheetRequest {
  kind: LibraryKind;
  /** The name of a role, or an id; null for a new item. */
  id: string | null;
  /** The name of a new item. */
  name?: string;
  /** Called with the name or id under which it was saved. */
  onSaved?: (id: string) => void;
}

/** Opens a library item in a sheet; null if the page does not support it. */
export const LibrarySheetsContext = createContext<((request: SheetRequest) => void) | null>(null);

export const useLibrarySheets = () => useContext(LibrarySheetsContext);

/** The last row of a picker: creates an item with the searched name, and picks it once it is saved. */
export function useCreate(kind: LibraryKind, onSaved: (id: string) => void) {
  const open = useLibrarySheets();
  if (!open) return undefined;
  return {
    label: (text: string) => (text === "" ? `New ${kind}…` : `Create “${text}”…`),
    onCreate: (name: string) => open(defined({ kind, id: null, name: name || undefined, onSaved })),
  };
}
