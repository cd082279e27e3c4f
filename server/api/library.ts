import { z } from "zod";
import { freshId, toId } from "@/server/domain/ids";
import type { Users } from "@/server/domain/uses";
import type { Troupe } from "@/server/troupe";

export const ById = z.object({ id: z.string() });
export const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");
export const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

/** Everything that may name a role, an agent or a crew. */
export const usersOf = ({
  workflows,
  crews,
  agents,
}: Pick<Troupe, "workflows" | "crews" | "agents">): Users => ({
  workflows: workflows.list(),
  crews: crews.list(),
  agents: agents.list(),
});

/** Research team -> research_team, with a number behind it where that is taken. */
export const idFrom = (name: string, fallback: string, taken: readonly { id: string }[]) =>
  freshId(toId(name).toLowerCase() || fallback, new Set(taken.map(({ id }) => id)));

/** research_team -> Research team */
export function nameFrom(id: string): string {
  const words = id.replace(/[_-]+/g, " ").trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
