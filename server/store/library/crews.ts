import type { Db } from "@/db/open";
import { crews } from "@/db/schema";
import { CrewConfig } from "@/server/domain/crew/crew";
import { type LibraryStore, newLibraryStore } from "./library";

/** The crews that workflows may name. */
export type CrewStore = LibraryStore<"crew", CrewConfig>;

export const newCrewStore = (db: Db, now: () => number = Date.now): CrewStore =>
  newLibraryStore(db, { table: crews, word: "crew", idKey: "crew_id", schema: CrewConfig }, now);
