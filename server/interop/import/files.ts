import type { ImportFile } from "./source";

/** How much one import may bring. */
export const IMPORT_LIMITS = {
  files: 500,
  /** Bytes of UTF-8, of one file and of all. */
  fileBytes: 5 * 1024 * 1024,
  bytes: 10 * 1024 * 1024,
  pathLength: 400,
} as const;

/** What is wrong with the files of an import before any is read, in one sentence, or null. */
export function filesProblem(files: readonly ImportFile[]): string | null {
  if (files.length === 0) return "No files to import.";
  if (files.length > IMPORT_LIMITS.files)
    return `An import can have at most ${IMPORT_LIMITS.files} files; this one has ${files.length}.`;
  const seen = new Set<string>();
  let bytes = 0;
  for (const { path, text } of files) {
    const invalid = pathProblem(path);
    if (invalid) return invalid;
    if (seen.has(path)) return path ? `Two files are named ${path}.` : "Two files have no name.";
    seen.add(path);
    const size = Buffer.byteLength(text);
    if (size > IMPORT_LIMITS.fileBytes) return `${path || "The text"} is larger than 5 MiB.`;
    bytes += size;
  }
  return bytes > IMPORT_LIMITS.bytes ? "The files exceed 10 MiB in total." : null;
}

/** Paths are names, never places: they stay inside their own folder, and no control characters hide in them. */
export function pathProblem(path: string): string | null {
  const shown = JSON.stringify(path.slice(0, 100));
  if (path.length > IMPORT_LIMITS.pathLength) return `The path ${shown}… is too long.`;
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return `The path ${shown} has invalid characters.`;
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path) || path.split("/").includes(".."))
    return `The path ${shown} points outside its folder.`;
  return null;
}
