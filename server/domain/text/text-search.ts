import { must } from "@/server/domain/base/must";
import type { Work } from "@/server/domain/base/work-budget";

/** Needles up to this length are left to the engine: at worst it looks at each character that often. */
const SHORT = 6;

/**
 * The index of a text in another, from an offset on; -1 if it isn't found. Linear in both lengths whatever they contain
 * (Knuth, Morris, Pratt): the engine's own search takes the product of both lengths for adversarial texts.
 */
export function find(work: Work, text: string, needle: string, from = 0): number {
  const rest = Math.max(0, text.length - from);
  if (needle.length <= SHORT) {
    work.read(rest);
    return text.indexOf(needle, from);
  }
  if (needle.length > rest) return -1;
  return searcher(work, needle)(text, from);
}

/** Every index of a text in another, without overlaps, at most `most` of them. The needle must not be empty. */
export function findAll(work: Work, text: string, needle: string, most: number): number[] {
  const places: number[] = [];
  if (needle.length > text.length) return places;
  work.read(needle.length <= SHORT ? text.length : 0);
  const next =
    needle.length <= SHORT
      ? (within: string, from: number) => within.indexOf(needle, from)
      : searcher(work, needle);
  for (let at = next(text, 0); at >= 0 && places.length < most; at = next(text, at + needle.length)) {
    work.makeListItem(places.length);
    places.push(at);
  }
  return places;
}

/** A text with another in place of a part, at most `most` times from the left. */
export function replaceText(work: Work, text: string, from: string, to: string, most: number): string {
  if (from === "") {
    // Before each character and at the end.
    work.makeList(text.length + 1);
    const all = [...text];
    work.makeText(text.length + Math.min(most, all.length + 1) * to.length);
    return all.map((char, i) => (i < most ? to + char : char)).join("") + (all.length < most ? to : "");
  }
  const places = findAll(work, text, from, most);
  work.makeText(text.length + places.length * (to.length - from.length));
  let end = 0;
  const pieces = places.map((at) => {
    const before = text.slice(end, at);
    end = at + from.length;
    return before + to;
  });
  return pieces.join("") + text.slice(end);
}

function searcher(work: Work, needle: string): (text: string, from: number) => number {
  work.spend(16);
  work.read(needle.length, 4);
  const fallback = new Int32Array(needle.length);
  for (let i = 1, matched = 0; i < needle.length; i++) {
    while (matched > 0 && needle.charCodeAt(i) !== needle.charCodeAt(matched))
      matched = must(fallback, matched - 1);
    if (needle.charCodeAt(i) === needle.charCodeAt(matched)) matched++;
    fallback[i] = matched;
  }
  return (text, from) => {
    let matched = 0;
    let counted = from;
    for (let i = from; i < text.length; i++) {
      if (i - counted === 1024) counted = count(counted, i);
      const char = text.charCodeAt(i);
      while (matched > 0 && char !== needle.charCodeAt(matched)) matched = must(fallback, matched - 1);
      if (char === needle.charCodeAt(matched)) matched++;
      if (matched === needle.length) {
        count(counted, i + 1);
        return i - needle.length + 1;
      }
    }
    count(counted, text.length);
    return -1;
  };

  // Counted as it goes, so that many hits are not charged for the same characters again and again.
  function count(from: number, to: number): number {
    work.read(to - from, 2);
    return to;
  }
}
