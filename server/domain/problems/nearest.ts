import { must } from "@/server/domain/base/must";

/** The candidate that a misspelled word most likely means, or null. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const wanted = plain(word);
  const same = wanted === "" ? undefined : candidates.find((candidate) => plain(candidate) === wanted);
  if (same !== undefined) return same;
  const most = word.length < 5 ? 1 : 2;
  let best: string | null = null;
  let least = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > most || candidate.length < 3) continue;
    const far = distance(...differing(word.toLowerCase(), candidate.toLowerCase()));
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  return best;
}

/** Two words without their common start and end, cut to 6 characters: longer rests are too different anyway. */
function differing(a: string, b: string): [string, string] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let to = 0;
  while (to < a.length - from && to < b.length - from && a[a.length - 1 - to] === b[b.length - 1 - to]) to++;
  return [a.slice(from, a.length - to).slice(0, 6), b.slice(from, b.length - to).slice(0, 6)];
}

/** How many letters must change to make one word of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        must(row, j) + 1,
        must(next, j - 1) + 1,
        must(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return must(row, b.length);
}
