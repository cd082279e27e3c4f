/** A step that can be taken back. */
export interface Entry<D> {
  /** The document before the step (in `past`) or after it (in `future`). */
  doc: D;
  label: string;
}

export interface EditHistory<D> {
  past: readonly Entry<D>[];
  future: readonly Entry<D>[];
  /** Steps with the same key that follow each other closely are one step: a word typed, a node nudged. */
  mergeKey: string | null;
  mergedAt: number;
}

const CAP = 100;
const MERGE_WITHIN_MS = 1200;

export function newHistory<D>(): EditHistory<D> {
  return { past: [], future: [], mergeKey: null, mergedAt: 0 };
}

export interface Step {
  label: string;
  mergeKey?: string | undefined;
  now: number;
}

/** Remembers the document as it was before a step. */
export function record<D>(
  history: EditHistory<D>,
  before: D,
  { label, mergeKey, now }: Step,
): EditHistory<D> {
  const merges =
    mergeKey !== undefined &&
    mergeKey === history.mergeKey &&
    history.past.length > 0 &&
    history.future.length === 0 &&
    now - history.mergedAt < MERGE_WITHIN_MS;
  return {
    past: merges ? history.past : [...history.past, { doc: before, label }].slice(-CAP),
    future: [],
    mergeKey: mergeKey ?? null,
    mergedAt: now,
  };
}

export interface EditStep<D> {
  history: EditHistory<D>;
  doc: D;
  label: string;
}

/** One step back; null where there is none. */
export function undo<D>(history: EditHistory<D>, present: D): EditStep<D> | null {
  const entry = history.past.at(-1);
  if (!entry) return null;
  return {
    doc: entry.doc,
    label: entry.label,
    history: {
      past: history.past.slice(0, -1),
      future: [{ doc: present, label: entry.label }, ...history.future],
      mergeKey: null,
      mergedAt: 0,
    },
  };
}

/** One step forward again; null where there is none. */
export function redo<D>(history: EditHistory<D>, present: D): EditStep<D> | null {
  const [entry, ...future] = history.future;
  if (!entry) return null;
  return {
    doc: entry.doc,
    label: entry.label,
    history: {
      past: [...history.past, { doc: present, label: entry.label }],
      future,
      mergeKey: null,
      mergedAt: 0,
    },
  };
}

/** The same steps on rebased documents. The next edit doesn't merge with the last one. */
export function onTop<D>({ past, future }: EditHistory<D>, rebase: (doc: D) => D): EditHistory<D> {
  const moved = (entry: Entry<D>): Entry<D> => ({ ...entry, doc: rebase(entry.doc) });
  return { past: past.map(moved), future: future.map(moved), mergeKey: null, mergedAt: 0 };
}
