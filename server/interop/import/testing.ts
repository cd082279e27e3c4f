import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { ImportFile } from "./source";

/** Where real files of other frameworks lie, if they do: TROUPE_FIXTURES, else beside the checkout. */
export const FIXTURES =
  process.env.TROUPE_FIXTURES ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures");

/** All files of a folder of fixtures, or the one file. */
export function fixtureFiles(name: string): ImportFile[] {
  const root = path.join(FIXTURES, name);
  if (statSync(root).isFile()) return [{ path: path.basename(root), text: readFileSync(root, "utf8") }];
  const walk = (dir: string): string[] =>
    readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? walk(path.join(dir, entry.name)) : [path.join(dir, entry.name)],
    );
  return walk(root).map((file) => ({
    path: path.relative(root, file).split(path.sep).join("/"),
    text: readFileSync(file, "utf8"),
  }));
}

/** A folder of files, written as an object. */
export const files = (texts: Readonly<Record<string, string>>): ImportFile[] =>
  Object.entries(texts).map(([name, text]) => ({ path: name, text }));
