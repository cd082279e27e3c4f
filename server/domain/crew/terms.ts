/** Words as an identifier: lower case, joined by underscores; letters of every script count. */
export function slug(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}

/** Words that say nothing about what is meant. */
const EMPTY: ReadonlySet<string> = new Set(["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"]);

/** The words of a text that say what is meant, in lower case. */
export const termsIn = (text: string): string[] =>
  slug(text)
    .split("_")
    .filter((word) => word !== "" && !EMPTY.has(word));

/** What words of one stem end with. */
const ENDINGS: ReadonlySet<string> = new Set(
  " e s es ed er ers or ors ing ings ment ments ion ions ation ations y ies ied al sis ses ze se zing sing".split(
    " ",
  ),
);
const SHORTEST_STEM = 3;

/** Whether two words are forms of one: deploy, deployment, deploying. Both in lower case. */
export function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  for (let length = SHORTEST_STEM; length <= Math.min(a.length, b.length); length++) {
    if (a.slice(0, length) !== b.slice(0, length)) return false;
    if (ENDINGS.has(a.slice(length)) && ENDINGS.has(b.slice(length))) return true;
  }
  return false;
}
