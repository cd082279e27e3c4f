import { useState } from "react";
import { isSameJson } from "@/server/domain/base/json";

/** A saved version of an item. */
export interface Version<T> {
  content: T;
  revision: number;
}

/** Unsaved changes to a library item, and conflicting saves. */
export interface Draft<T> {
  content: T;
  /** The version that the draft is compared with and will replace. */
  base: Version<T>;
  isChanged: boolean;
  /** Increases when the whole draft is replaced, to reset forms with local state. */
  generation: number;
  /** A version that was saved elsewhere meanwhile. */
  theirs: Version<T> | null;
  /** Leaving no longer asks for confirmation. */
  isLeaving: boolean;
  set(next: T | ((content: T) => T)): void;
  /** Discards the changes. */
  discard(): void;
  /** Called after the draft was saved. */
  onSaved(version: Version<T>): void;
  onConflict(theirs: Version<T>): void;
  takeTheirs(): void;
  leave(): void;
}

/**
 * Keeps unsaved changes apart from the saved version. A newer saved version replaces the draft only if it is
 * unchanged. `saved`: null for a new item.
 */
export function useDraft<T>(
  saved: Version<T> | null,
  initial: T,
  isSame: (a: T, b: T) => boolean = isSameJson,
): Draft<T> {
  const [base, setBase] = useState<Version<T>>(saved ?? { content: initial, revision: 0 });
  const [content, setContent] = useState<T>(base.content);
  const [generation, setGeneration] = useState(0);
  const [theirs, setTheirs] = useState<Version<T> | null>(null);
  const [isLeaving, setLeaving] = useState(false);
  const isChanged = !isSame(content, base.content);
  const take = (version: Version<T>) => {
    setBase(version);
    setContent(() => version.content);
    setTheirs(null);
    setGeneration((count) => count + 1);
  };
  if (saved && saved.revision > base.revision && !isChanged) take(saved);
  return {
    content,
    base,
    isChanged,
    generation,
    theirs,
    isLeaving,
    set: setContent,
    discard: () => take(base),
    onSaved: (version) => {
      setBase(version);
      setTheirs(null);
    },
    onConflict: setTheirs,
    takeTheirs: () => {
      if (theirs) take(theirs);
    },
    leave: () => setLeaving(true),
  };
}
