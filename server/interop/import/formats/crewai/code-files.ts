import { doesImport } from "../../code/files";
import type { Source } from "../../source";

const IMPORTS_CREWAI = /^[ \t]*(from|import)[ \t]+crewai(?!\w)/m;
const MAKES_CREW = /\bCrew\s*\(/;
const MAKES_PARTS = /\b(Agent|Task|ConditionalTask)\s*\(/;

/** The code of one crew. */
export interface CrewProgram {
  /** In which the crew is made. */
  main: Source;
  /** It and what it imports of the files; who is imported stands first. */
  files: Source[];
  /** Files that use the crew. */
  users: Source[];
}

export const isPython = ({ path, value }: Source): boolean =>
  value === undefined && (/\.py$/i.test(path) || !/\.[a-z]{1,8}$/i.test(path));
const isCrewAi = (source: Source): boolean => isPython(source) && IMPORTS_CREWAI.test(source.text);

/** The programs of crews among files: one for each file that makes a crew, else for each that makes agents or tasks. */
export function crewPrograms(sources: readonly Source[]): CrewProgram[] {
  const crews = sources.filter((source) => isCrewAi(source) && MAKES_CREW.test(source.text));
  const programs = crews.map((main) => programOf(main, sources));
  const taken = new Set(programs.flatMap(({ files, users }) => [...files, ...users]));
  const rest = sources.filter(
    (source) => !taken.has(source) && isCrewAi(source) && MAKES_PARTS.test(source.text),
  );
  return [...programs, ...rest.map((main) => programOf(main, rest))];
}

export function programOf(main: Source, sources: readonly Source[]): CrewProgram {
  const files: Source[] = [];
  const visit = (file: Source, above: ReadonlySet<Source>): void => {
    if (files.includes(file) || above.has(file)) return;
    for (const other of importsOf(file, sources)) visit(other, new Set([...above, file]));
    files.push(file);
  };
  visit(main, new Set());
  return {
    main,
    files,
    users: sources.filter((source) => !files.includes(source) && importsOf(source, sources).includes(main)),
  };
}

/** The files that a file imports; if several match, those of its own folder. */
function importsOf(file: Source, sources: readonly Source[]): Source[] {
  const all = sources.filter((other) => doesImport(file, other));
  return all.filter(
    (one) =>
      one.folder === file.folder ||
      !all.some((other) => other.name === one.name && other.folder === file.folder),
  );
}

/** Whether the YAML files of a folder are those that a program reads its agents and tasks from. */
export function readsFolder({ main }: CrewProgram, folder: string): boolean {
  const named = [...main.text.matchAll(/\b(?:agents|tasks)_config\s*=\s*["']([^"']+)["']/g)].map(
    ([, to = ""]) => folderOf(main.folder, to),
  );
  return folder === main.folder || folder === `${main.folder}config/` || named.includes(folder);
}

function folderOf(from: string, to: string): string {
  const parts = from.split("/").filter(Boolean);
  for (const part of to.split("/").slice(0, -1))
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  return parts.length === 0 ? "" : `${parts.join("/")}/`;
}
