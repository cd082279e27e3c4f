/**
 * Parses text that this server wrote into its own database. Only for values that a single place writes with the same
 * type; anything else goes through its schema. Throws SyntaxError on damaged text.
 */
export function ownJson<T>(text: string): T {
  // The database holds text; nothing but this server writes to it.
  return JSON.parse(text) as T;
}
