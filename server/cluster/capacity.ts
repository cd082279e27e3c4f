/**
 * How many runs may be at work by what each worker carries out at the same time: as many as find a place should any one of
 * them die, so that what it had goes on elsewhere at once. All that one takes, where it is alone.
 */
export function capacityOf(limits: readonly number[]): number {
  const all = limits.reduce((sum, limit) => sum + limit, 0);
  return limits.length < 2 ? all : all - Math.max(...limits);
}
