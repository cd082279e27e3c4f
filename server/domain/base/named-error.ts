/**
 * A base for errors that are caught in another part of the server than where they are thrown: `instanceof` asks for the
 * name. Start-up code and routes are separate bundles, each with its own copy of every class, so that to ask for the
 * class itself finds nothing there.
 */
export function namedError(name: string) {
  return class extends Error {
    override name = name;
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof Error && value.name === name;
    }
  };
}
