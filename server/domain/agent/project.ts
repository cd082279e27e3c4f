import { z } from "zod";

const Lines = z.array(z.string().max(1000)).max(50).default([]);

/** What a workflow belongs to, which every agent of its runs is told. */
export const ProjectContext = z.object({
  project_id: z.string().max(200).optional(),
  project_name: z.string().max(200).default(""),
  description: z.string().max(8000).default(""),
  /** What must not be broken. */
  constraints: Lines,
  /** How things are done there. */
  conventions: Lines,
});
export type ProjectContext = z.infer<typeof ProjectContext>;

/** The project in a prompt, for the system message; empty where nothing is said of it. */
export function projectPrompt(project: ProjectContext | undefined): string {
  if (!project) return "";
  const { project_name, description, constraints, conventions } = project;
  const list = (title: string, items: readonly string[]) => {
    const filled = items.filter((item) => item.trim() !== "");
    return filled.length > 0 ? `${title}:\n${filled.map((item) => `- ${item}`).join("\n")}` : "";
  };
  const about = [
    description,
    list("Constraints of the project", constraints),
    list("Conventions of the project", conventions),
  ].filter((part) => part !== "");
  if (project_name === "" && about.length === 0) return "";
  return [
    project_name === "" ? "The project you work on:" : `The project you work on: ${project_name}`,
    ...about,
  ].join("\n");
}
