import { type Db, openDb } from "./open";

let empty: Buffer | undefined;

/** An in-memory database with empty tables. Only the first in a process runs the migrations; the others are copies of it. */
export function emptyDb(): Db {
  if (!empty) {
    const { $client } = openDb(":memory:");
    empty = $client.serialize();
    $client.close();
  }
  return openDb(empty);
}
