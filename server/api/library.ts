import { z } from "zod";
import { freshId, toId } from "@/server/domain/base/ids";

export const ById = z.object({ id: z.string() });
export const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");
export const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

/** Research team -> research_team, with a number behind it where that is taken. */
export const idFrom = (name: string, fallback: string, taken: readonly { id: string }[]) =>
  freshId(toId(name).toLowerCase() || fallback, new Set(taken.map(({ id }) => id)));

/** research_team -> Research team */
export function nameFrom(id: string): string {
  const words = id.replace(/[_-]+/g, " ").trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
