import type { Db } from "@/db/open";
import { agents } from "@/db/schema";
import { AgentConfig } from "@/server/domain/agent/role";
import { type LibraryStore, newLibraryStore } from "./library";

/** The agents that crews and workflows may name. */
export type AgentStore = LibraryStore<"agent", AgentConfig>;

export const newAgentStore = (db: Db, now: () => number = Date.now): AgentStore =>
  newLibraryStore(db, { table: agents, word: "agent", idKey: "agent_id", schema: AgentConfig }, now);
