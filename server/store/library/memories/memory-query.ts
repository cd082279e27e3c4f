/** How many words of a search count, and how long each may be, in characters. */
const QUERY = { terms: 32, length: 64 } as const;

/**
 * Free text as an FTS5 query that matches any of its words. Each word is quoted, so no FTS5 syntax takes effect. Null
 * if there are no words.
 */
export function toMatch(text: string): string | null {
  const terms = termsOf(text);
  return terms.length === 0 ? null : terms.map((word) => `"${word}"`).join(" OR ");
}

/** The same for search as you type: all words must match, each as a prefix. */
export function toFilter(text: string): string | null {
  const terms = termsOf(text);
  return terms.length === 0 ? null : terms.map((word) => `"${word}"*`).join(" AND ");
}

function termsOf(text: string): string[] {
  const tokens = text.slice(0, 4_000).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const cut = tokens.map((word) => word.slice(0, QUERY.length).toWellFormed().toLowerCase());
  return [...new Set(cut)].slice(0, QUERY.terms);
}
