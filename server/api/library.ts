import { z } from "zod";

export const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

/** research_team -> Research team */
export function nameFrom(id: string): string {
  const name = id.replace(/[_-]+/g, " ").trim() || id;
  return name.charAt(0).toUpperCase() + name.slice(1);
}
