import { type Db, openDb } from "./open";

let empty: Buffer | undefined;

/** A database in memory with empty tables. Only the first one of a process runs the migrations: the others are copies. */
export function emptyDb(): Db {
  if (!empty) {
    const { $client } = openDb(":memory:");
    empty = $client.serialize();
    $client.close();
  }
  return openDb(empty);
}
