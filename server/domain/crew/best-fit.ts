import type { RoleDefinition } from "@/server/domain/agent/role";
import { isSameWord, termsIn } from "./terms";

/** What of a role says what it can do. */
export type Skills = Pick<RoleDefinition, "name" | "description" | "goals" | "responsibilities" | "tools">;

/** Words so short say little about what is to be done. */
const SHORTEST = 4;

/** How many words of a task a role has in its name, description, goals, responsibilities or tools, in whatever form. */
export function fitness(task: string, skills: Skills): number {
  const { name, description, goals, responsibilities, tools } = skills;
  const own = [name, description, ...goals, ...responsibilities, ...tools].flatMap(termsIn);
  const wanted = new Set(termsIn(task).filter((word) => word.length >= SHORTEST));
  return [...wanted].filter((word) => own.some((other) => isSameWord(word, other))).length;
}
