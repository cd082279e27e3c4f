import { isList } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";

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
  throw new Rejection("bad_request", "Invalid cursor. Start without one.");
}

const compare = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);
/** Numbers are times, the newest first; names go up. */
const order = (a: Place, b: Place) =>
  typeof a[0] === "number"
    ? compare(b[0], a[0]) || compare(b[1], a[1])
    : compare(a[0], b[0]) || compare(a[1], b[1]);

/** One page of a whole list, and the cursor of the next, if there is one. */
export function pageOf<T>(
  all: readonly T[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  placeOf: (item: T) => Place,
): { items: T[]; next_cursor: string | null } {
  const after = cursor === undefined ? null : fromCursor(cursor);
  const rest = after ? all.filter((item) => order(placeOf(item), after) > 0) : all;
  const items = [...rest].sort((a, b) => order(placeOf(a), placeOf(b))).slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rest.length > items.length && last ? toCursor(placeOf(last)) : null };
}
