import { isList } from "@/server/domain/base/guards";
import { Problem } from "@/server/operations/problem";

export const IF_MATCH =
  "The revision that the change was made on, as ETag gives it; without it the newest is replaced";

/** The revision in an If-Match header. */
export function expectedRevision(headers: Headers): number | undefined {
  const match = headers.get("if-match");
  if (match === null || match === "*") return undefined;
  const revision = /^(?:W\/)?"?(\d{1,12})"?$/.exec(match.trim())?.[1];
  if (!revision) throw new Problem("bad_request", 'If-Match must be a revision, such as "3".');
  return Number(revision);
}

/** Where a page ended: what it was sorted by, and the id. Opaque to its readers. */
export type Place = readonly [key: number | string, id: string];

export const toCursor = (place: Place) => Buffer.from(JSON.stringify(place)).toString("base64url");

export function fromCursor(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (isList(place) && place.length === 2) {
      const [key, id] = place;
      if ((typeof key === "number" || typeof key === "string") && typeof id === "string") return [key, id];
    }
  } catch {
    // Said below.
  }
  throw new Problem("bad_request", "This cursor is not one of ours; begin without one.");
}

type Order = (a: Place, b: Place) => number;
const compare = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);
export const newestFirst: Order = (a, b) => compare(b[0], a[0]) || compare(b[1], a[1]);
export const byName: Order = (a, b) => compare(a[0], b[0]) || compare(a[1], b[1]);

/** One page of a whole list, and the cursor of the next, if there is one. */
export function pageOf<T>(
  all: readonly T[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  placeOf: (item: T) => Place,
  order: Order,
): { items: T[]; next_cursor: string | null } {
  const after = cursor === undefined ? null : fromCursor(cursor);
  const rest = after ? all.filter((item) => order(placeOf(item), after) > 0) : all;
  const items = [...rest].sort((a, b) => order(placeOf(a), placeOf(b))).slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rest.length > items.length && last ? toCursor(placeOf(last)) : null };
}
