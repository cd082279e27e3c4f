import type { ImportFile } from "./source";

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["python", ".py"],
  ["py", ".py"],
  ["json", ".json"],
  ["yaml", ".yaml"],
  ["yml", ".yaml"],
  ["typescript", ".ts"],
  ["ts", ".ts"],
  ["mermaid", ".mmd"],
]);
const MOST_EXAMPLES = 50;

/** The examples of a document: each fenced block as a file, whose lines keep their numbers. Empty where there are none. */
export function examplesIn(files: readonly ImportFile[]): ImportFile[] {
  return files
    .filter(({ path }) => path === "" || /\.(md|mdx|markdown|txt)$/i.test(path))
    .flatMap(({ path, text }) => blocksOf(path, text.split("\n")))
    .slice(0, MOST_EXAMPLES);
}

function blocksOf(path: string, lines: readonly string[]): ImportFile[] {
  const blocks: ImportFile[] = [];
  let open: { line: number; indent: number; language: string } | null = null;
  for (const [at, line] of lines.entries()) {
    const fence = /^([ \t]*)```[ \t]*(\w*)/.exec(line);
    if (!fence) continue;
    if (open) {
      const { line: begin, indent, language } = open;
      const body = lines
        .slice(begin, at)
        .map((one) => one.slice(Math.min(indent, one.length - one.trimStart().length)));
      blocks.push({
        path: `${path || "example"} line ${begin + 1}${EXTENSIONS.get(language.toLowerCase()) ?? ""}`,
        text: "\n".repeat(begin) + body.join("\n"),
      });
      open = null;
    } else open = { line: at + 1, indent: fence[1]?.length ?? 0, language: fence[2] ?? "" };
  }
  return blocks;
}
