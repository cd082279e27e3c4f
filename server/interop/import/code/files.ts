import type { PlaceOf } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import type { Reading } from "../format";
import type { Source } from "../source";
import { lineOf, type Place, type Program, ProgramError } from "./program";

/*
 * Programs of several files. Files that import one another are read as one text, who is imported first: names that come
 * from another file are then those of this one. Nothing is looked up that is not among the files.
 */

const IS_PYTHON = /\.py$/i;
const IS_TYPESCRIPT = /\.[cm]?[jt]sx?$/i;
/** More files than these are not read as one program. */
const MOST_FILES = 60;

const languageOf = ({ path }: Source): "python" | "typescript" | null =>
  IS_PYTHON.test(path) ? "python" : IS_TYPESCRIPT.test(path) ? "typescript" : null;

/** Which files are one program: each with those that it imports, and those that import it, however far. Who is imported stands first. */
export function programsOf(sources: readonly Source[]): Source[][] {
  const left = new Set(sources);
  const programs: Source[][] = [];
  for (const begin of sources) {
    if (!left.has(begin)) continue;
    const program = new Set([begin]);
    for (const one of program)
      for (const other of left)
        if (program.size < MOST_FILES && (doesImport(one, other) || doesImport(other, one)))
          program.add(other);
    for (const one of program) left.delete(one);
    programs.push(inOrder([...program]));
  }
  return programs;
}

/** Who is imported before who imports it; in a circle as they came. */
function inOrder(files: readonly Source[]): Source[] {
  const done = new Set<Source>();
  const visit = (file: Source, above: ReadonlySet<Source>): void => {
    if (done.has(file) || above.has(file)) return;
    for (const other of files) if (doesImport(file, other)) visit(other, new Set([...above, file]));
    done.add(file);
  };
  for (const file of files) visit(file, new Set());
  return [...done];
}

/** Whether a program names another file as one that it imports. */
export function doesImport(file: Source, other: Source): boolean {
  const language = languageOf(file);
  if (file === other || language === null || language !== languageOf(other)) return false;
  return language === "python" ? importsPython(file, other) : importsTypeScript(file, other);
}

const modules = new WeakMap<Source, ReadonlySet<string>>();

/** What a file imports, as it names it, looked up once for each file. */
function modulesOf(file: Source, find: (file: Source) => string[]): ReadonlySet<string> {
  const known = modules.get(file) ?? new Set(find(file));
  modules.set(file, known);
  return known;
}

/** `from writers import x`, `from .writers import x`, `from team.writers import x`, `import team.writers` */
function importsPython(file: Source, { path }: Source): boolean {
  const named = modulesOf(file, ({ text }) =>
    [...text.matchAll(/^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([.\w]+))/gm)].map(
      ([, from = "", whole = ""]) => (from || whole).replace(/^\.+/, "").replaceAll(".", "/"),
    ),
  );
  const parts = path
    .replace(IS_PYTHON, "")
    .replace(/\/__init__$/, "")
    .split("/");
  return parts.some((part, at) => part !== "" && named.has(parts.slice(at).join("/")));
}

/** `from "./writers"`, `from "../team/writers.js"`, also of a folder's index. */
function importsTypeScript(file: Source, { path }: Source): boolean {
  const named = modulesOf(file, ({ text, folder }) =>
    [...text.matchAll(/\bfrom\s*["'](\.[^"']*)["']/g)].map(([, to = ""]) => {
      const parts: string[] = folder.split("/").filter(Boolean);
      for (const part of to.replace(IS_TYPESCRIPT, "").split("/"))
        if (part === "..") parts.pop();
        else if (part !== "." && part !== "") parts.push(part);
      return parts.join("/").replace(/\/index$/, "");
    }),
  );
  return named.has(path.replace(IS_TYPESCRIPT, "").replace(/\/index$/, ""));
}

/** Files that were read as one program. */
export interface JoinedProgram {
  program: Program;
  placeOf: (place: Place) => PlaceOf;
}

/**
 * Reads files as one program. What can't be parsed becomes a diagnostic; null, with a diagnostic of this level, if
 * there is too much to read. `textOf`: the code of a file.
 */
export function readFiles(
  files: readonly Source[],
  read: (text: string, work: Work) => Program,
  { findings, work }: Pick<Reading, "findings" | "work">,
  level: "error" | "dropped",
  textOf = ({ text }: Source): string => text,
): JoinedProgram | null {
  const parts: { file: Source; text: string; from: number }[] = [];
  let end = 0;
  for (const file of files) {
    const text = textOf(file);
    parts.push({ file, text, from: end });
    end += text.length + 1;
  }
  const placeOf =
    ({ from: offset }: Place): PlaceOf =>
    () => {
      const part = parts.findLast(({ from }) => from <= offset);
      if (!part) return {};
      const line = lineOf(part.text, offset - part.from);
      return { at: `line ${line}`, line, ...(part.file.path ? { file: part.file.path } : {}) };
    };
  try {
    const program = read(parts.map(({ text }) => text).join("\n"), work);
    const syntaxErrors = new Map(
      program.syntaxErrors.map((syntaxError) => [lineOf(program.text, syntaxError.from), syntaxError]),
    );
    for (const syntaxError of [...syntaxErrors.values()].slice(0, 5))
      findings
        .of(placeOf(syntaxError))
        .dropped("", "This part could not be parsed; the rest of the code was read.");
    return { program, placeOf };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    files.at(-1)?.on(findings).add(level, "", error.message);
    return null;
  }
}
