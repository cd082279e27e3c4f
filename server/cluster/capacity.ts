/**
 * How many runs may be at work by what each worker carries out at the same time: as many as find a place should any one of
 * them die, so that what it had goes on elsewhere at once. Never fewer than the largest takes by itself, so that a small
 * one that joins takes nothing away.
 */
export function capacityOf(limits: readonly number[]): number {
  const all = limits.reduce((sum, limit) => sum + limit, 0);
  const largest = Math.max(0, ...limits);
  return Math.max(all - largest, largest);
}
