/** By which lists of runs may be ordered. */
export const RUN_ORDERS = ["newest", "oldest", "costliest", "longest"] as const;
export type RunOrder = (typeof RUN_ORDERS)[number];

/** What of a run orders it. Times in Unix milliseconds, cost in US dollars; an unknown cost counts as none. */
interface Ordered {
  id: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  cost_usd: number | null;
}

/** A place in an ordered list: after the run with this id and this value. */
export interface RunPlace {
  value: number;
  id: string;
}

/** The position after this run, for the next page of a list. An unfinished run has no duration yet. */
export function placeAfter(run: Ordered, order: RunOrder): RunPlace {
  const { id, created_at, started_at, finished_at, cost_usd } = run;
  if (order === "costliest") return { id, value: cost_usd ?? 0 };
  if (order !== "longest") return { id, value: created_at };
  return { id, value: started_at === null || finished_at === null ? 0 : finished_at - started_at };
}
