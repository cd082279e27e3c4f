interface Bucket {
  left: number;
  at: number;
}

declare global {
  var __troupeRates: Map<string, Bucket> | undefined;
}

globalThis.__troupeRates ??= new Map();
const buckets = globalThis.__troupeRates;

/**
 * Takes one turn of whoever asks. Answers 0, or the seconds to wait where all turns are used up.
 * Turns come back at `perSecond`, up to `burst`.
 */
export function takeFromRateLimit(
  who: string,
  { perSecond, burst }: { perSecond: number; burst: number },
  now = performance.now(),
): number {
  const bucket = buckets.get(who) ?? { left: burst, at: now };
  bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
  bucket.at = now;
  // Moved to the end: what has not been used for longest is forgotten first.
  buckets.delete(who);
  buckets.set(who, bucket);
  if (buckets.size > 5_000) for (const first of buckets.keys()) if (buckets.delete(first)) break;
  if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / perSecond));
  bucket.left--;
  return 0;
}
