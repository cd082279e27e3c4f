/** How fast the offline demo answers each run. Kept in memory only: it doesn't affect the result of a run. */
export interface DemoPace {
  /** Answers the run slowly enough to be watched. */
  slow(runId: string): void;
  /** Answers the rest of a slow run immediately. */
  skip(runId: string): void;
  /** Absent: at the usual speed. */
  of(runId: string): "slow" | "at once" | undefined;
}

const MOST_RUNS = 100;

export function newDemoPace(): DemoPace {
  const paces = new Map<string, "slow" | "at once">();
  return {
    slow(runId) {
      if (!paces.has(runId)) paces.set(runId, "slow");
      for (const oldest of paces.keys()) if (paces.size > MOST_RUNS) paces.delete(oldest);
    },
    skip(runId) {
      if (paces.has(runId)) paces.set(runId, "at once");
    },
    of: (runId) => paces.get(runId),
  };
}
