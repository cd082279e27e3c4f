/** How many words of a search count, and how long each may be, in characters. */
const QUERY = { terms: 32, length: 64 } as const;

/**
 * Free text as a query of FTS5: its words in quotes, any of them. Quotes make a word a word, so that nothing of the
 * query language is left. Null where there are no words.
 */
export function toMatch(text: string): string | null {
  const terms = termsOf(text);
  return terms.length === 0 ? null : terms.map((word) => `"${word}"`).join(" OR ");
}

/** The same for someone who is typing: all of the words, each perhaps the beginning of one. */
export function toFilter(text: string): string | null {
  const terms = termsOf(text);
  return terms.length === 0 ? null : terms.map((word) => `"${word}"*`).join(" AND ");
}

function termsOf(text: string): string[] {
  const tokens = text.slice(0, 4_000).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const cut = tokens.map((word) => word.slice(0, QUERY.length).toWellFormed().toLowerCase());
  return [...new Set(cut)].slice(0, QUERY.terms);
}
