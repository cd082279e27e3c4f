import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// One name per capability, and one place for it in each layer, so that whoever has found one part finds the others.

const ROOT = path.resolve(import.meta.dirname, "..");
const ARCHITECTURE = path.join(ROOT, "ARCHITECTURE.md");
const LAYERS = {
  domain: "server/domain",
  runner: "server/runner",
  store: "server/store",
  operations: "server/operations",
  components: "components",
};
type Layer = keyof typeof LAYERS;

interface Capability {
  name: string;
  /** A file or folder whose name has this word belongs to the capability; a plural counts. */
  word: string;
  /** Words that others use for it: no file has them. */
  not?: readonly string[];
  /** Places that have the word for another reason, or apart from the rest, and why. */
  but?: Readonly<Record<string, string>>;
}

const CAPABILITIES: readonly Capability[] = [
  { name: "Fork", word: "fork", not: ["branch-off"] },
  { name: "Replay", word: "replay", not: ["rerun", "rewind"] },
  { name: "Bisect", word: "bisect" },
  {
    name: "Breakpoints",
    word: "breakpoint",
    not: ["stop-point"],
    but: {
      "components/canvas/breakpoint-context.ts":
        "the canvas draws breakpoints and may not import the run page",
      "components/canvas/breakpoint-dot.tsx": "the canvas draws breakpoints and may not import the run page",
      "components/editor/commands/breakpoint-commands.ts": "each group of editor commands is a file",
      "components/editor/inspector/editor-breakpoints.tsx":
        "connects the run page's list with the editor's canvas",
    },
  },
  { name: "Inbox", word: "inbox" },
  {
    name: "Questions",
    word: "question",
    but: {
      "server/domain/crew/questions.ts": "a crew's setting: what it may ask people",
      "server/domain/nodes/asking/question-terms.ts": "the settings of nodes that ask",
      "server/domain/run/findings/question-unanswered.ts": "each finding is a file",
      "server/domain/tool/person-question.ts": "how a tool asks, below runs",
      "server/runner/agent/limit-question.ts": "an agent's call at its limit",
      "components/import-export/import-questions.tsx": "what an import asks; no question of a run",
      "components/inbox/question-item.tsx": "a row of the inbox",
    },
  },
  { name: "Memory", word: "memory" },
  { name: "Tests", word: "scenario" },
  { name: "Compare", word: "compare", not: ["diff-view"] },
  { name: "Judges", word: "judge" },
  { name: "Share", word: "share" },
  { name: "Signals", word: "signal" },
  { name: "Versions", word: "version" },
];

const files = Object.entries(LAYERS).flatMap(([layer, folder]) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => ({ layer: layer as Layer, file })),
);

const has = (segment: string, word: string) =>
  new RegExp(`(^|-)${word.replace(/y$/, "(?:y|ie)")}s?(-|\\.|$)`).test(segment);

/** The topmost folders and files of a layer with the word in their name. */
function placesOf(layer: Layer, word: string): string[] {
  const places = files
    .filter((entry) => entry.layer === layer)
    .flatMap(({ file }) => {
      const segments = file.split("/");
      const at = segments.findIndex((segment) => has(segment, word));
      return at === -1 ? [] : [segments.slice(0, at + 1).join("/")];
    });
  return [...new Set(places)].sort();
}

const map = CAPABILITIES.map(({ word, but = {}, ...rest }) => ({
  ...rest,
  word,
  but,
  places: (Object.keys(LAYERS) as Layer[]).map((layer) => ({
    layer,
    all: placesOf(layer, word).filter((place) => !(`${LAYERS[layer]}/${place}` in but)),
  })),
}));

test.each(map)("the capability $name has one place in each layer", ({ places, word, not = [], but }) => {
  for (const { layer, all } of places) expect(all, layer).toHaveLength(Math.min(1, all.length));
  const others = not.flatMap((other) =>
    (Object.keys(LAYERS) as Layer[]).flatMap((layer) => placesOf(layer, other)),
  );
  expect(others, `files that should have the word ${word}`).toEqual([]);
  for (const place of Object.keys(but))
    expect(
      files.some(({ layer, file }) => `${LAYERS[layer]}/${file}`.startsWith(place)),
      place,
    ).toBe(true);
});

test("ARCHITECTURE.md lists the capabilities; UPDATE_DOCS=1 writes it", () => {
  const begin = "<!-- Capabilities: UPDATE_DOCS=1 npx vitest run server/capabilities.test.ts -->\n";
  const page = readFileSync(ARCHITECTURE, "utf8");
  const [before = "", after = ""] = page.split(begin);
  const rest = after.slice(after.indexOf("\n\n") + 1);
  const rows = map.map(
    ({ name, places }) =>
      `| ${name} | ${places.map(({ all }) => all.map((place) => `\`${place}\``).join(", ")).join(" | ")} |\n`,
  );
  const head = `| | ${Object.keys(LAYERS).join(" | ")} |\n|${" --- |".repeat(1 + Object.keys(LAYERS).length)}\n`;
  const expected = `${before}${begin}${head}${rows.join("")}${rest}`;
  if (process.env.UPDATE_DOCS === "1") writeFileSync(ARCHITECTURE, expected);
  expect(readFileSync(ARCHITECTURE, "utf8")).toBe(expected);
});
