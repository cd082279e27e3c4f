import { useState } from "react";
import { isSameJson } from "@/server/domain/base/json";

/** A thing as it was saved once. */
export interface Version<T> {
  content: T;
  revision: number;
}

/** What is being written of a thing of the library, and what happened to the thing meanwhile. */
export interface Draft<T> {
  content: T;
  /** What it is compared with, and saved over. */
  base: Version<T>;
  isChanged: boolean;
  /** Counts replacements of the whole, so that forms with texts of their own begin anew. */
  generation: number;
  /** The version that was saved in another place, while this one was written. */
  theirs: Version<T> | null;
  /** The way out is free: nothing is asked any more. */
  isLeaving: boolean;
  set(next: T | ((content: T) => T)): void;
  /** Throws away what was written, for what was saved. */
  discard(): void;
  /** What was written is saved now. */
  onSaved(version: Version<T>): void;
  onConflict(theirs: Version<T>): void;
  takeTheirs(): void;
  leave(): void;
}

/**
 * Keeps what is being written apart from what is saved. A version that is newer than the one it began with replaces
 * it only where nothing was written yet. `saved`: null for a thing that is new.
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
