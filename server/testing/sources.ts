import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The source files in a folder and its folders, relative to the project. */
export const filesUnder = (dir: string): string[] =>
  readdirSync(path.join(ROOT, dir), { withFileTypes: true }).flatMap((entry) => {
    const at = path.posix.join(dir, entry.name);
    if (entry.isDirectory()) return /^(?:node_modules|dist)$/.test(entry.name) ? [] : filesUnder(at);
    return /\.(?:tsx?|mjs)$/.test(at) ? [at] : [];
  });

/** A source file with its syntax tree. */
export const parsed = (file: string) => ({
  file,
  tree: ts.createSourceFile(
    file,
    readFileSync(path.join(ROOT, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
    file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  ),
});
