// `npm test -- mutants [FILE ...]`: changes the code on purpose, one place at a time, and says which changes no test
// notices. `--sample N [--seed S]` tries about N changes, spread by chance over all rooms that matter most. `--tests
// PATTERN` (more than once) asks only these tests: quick, and strict, as those of other rooms may notice a change too.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
const out = path.join(root, ".cache", "mutants");

/** Where a mistake would cost people the most. */
const ROOMS = [
  "server/domain/**/*.ts",
  "server/runner/**/*.ts",
  "server/llm/limits/budget.ts",
  "server/llm/tool-calls/text-calls.ts",
  "server/llm/tool-calls/text-protocol.ts",
  "server/tools/policy.ts",
  "server/access/**/*.ts",
  "server/egress/**/*.ts",
  "server/store/runs/workspace.ts",
];
const isTested = (file) => !/\.test\.ts$|\/testing(\/|\.ts$)|durable-conformance/.test(file);
/** Sentences for people are free to change: no test has to hold their letters. */
const LEFT_OUT = ["StringLiteral"];
/** A place with more changes within it than this is left to the smaller places inside it. */
const MOST_AT_ONE_PLACE = 8;
/** So many of a hundred changes must be noticed. */
const WANTED = 85;

const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 86_400_000)) },
    tests: { type: "string", multiple: true, default: [] },
  },
});
process.chdir(root);
mkdirSync(out, { recursive: true });

const files = (positionals.length > 0 ? positionals : ROOMS)
  .flatMap((pattern) => globSync(pattern).map((file) => file.split(path.sep).join("/")))
  .filter(isTested);
if (files.length === 0) {
  console.error("No file of the sources has that name.");
  process.exit(2);
}
const seed = Number(asked.seed);
const mutate = asked.sample === undefined ? files : await sample(files, Number(asked.sample), seed);
const report = path.join(out, "report.json");
rmSync(report, { force: true });
const config = path.join(out, "stryker.json");
writeFileSync(
  config,
  JSON.stringify({
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "scripts/mutants/vitest.config.mjs" },
    mutate,
    mutator: { excludedMutations: LEFT_OUT },
    ignoreStatic: true,
    ignorePatterns: [
      ".next*",
      "data",
      "test-results",
      ".cache",
      "scripts/mutants/node_modules",
      "e2e/**/*.spec.ts",
    ],
    coverageAnalysis: "perTest",
    concurrency: 2,
    reporters: ["progress-append-only", "clear-text", "json"],
    clearTextReporter: { reportTests: false, logTests: false, allowColor: false, reportScoreTable: false },
    jsonReporter: { fileName: report },
    tempDirName: ".cache/stryker",
    cleanTempDir: "always",
    dryRunTimeoutMinutes: 60,
    timeoutMS: 30_000,
    warnings: { slow: false },
    allowConsoleColors: false,
    checkers: [],
  }),
);
const { status } = spawnSync(
  process.execPath,
  ["scripts/mutants/node_modules/@stryker-mutator/core/bin/stryker.js", "run", config],
  {
    stdio: "inherit",
    env: { ...process.env, TROUPE_MUTANTS_TESTS: JSON.stringify(asked.tests) },
  },
);
if (status !== 0) process.exit(status ?? 1);
tell();

/** The noticed share, and each change that nobody noticed with its place. */
function tell() {
  const { files: read } = JSON.parse(readFileSync(report, "utf8"));
  const all = Object.entries(read).flatMap(([file, { mutants }]) => mutants.map((one) => ({ file, ...one })));
  const noticed = all.filter(({ status: of }) => of === "Killed" || of === "Timeout");
  const unnoticed = all.filter(({ status: of }) => of === "Survived" || of === "NoCoverage");
  console.log("\nNot noticed");
  for (const { file, location, replacement = "", status: of } of unnoticed) {
    const why = of === "NoCoverage" ? "no test comes here" : "the tests pass";
    const change = replacement.replace(/\s+/g, " ").slice(0, 80);
    console.log(`  ${file}:${location.start.line}:${location.start.column}  ${change}  (${why})`);
  }
  const share = (100 * noticed.length) / Math.max(1, noticed.length + unnoticed.length);
  const which = asked.sample === undefined ? "" : ` of a sample with --seed ${seed}`;
  console.log(
    `\n${noticed.length} of ${noticed.length + unnoticed.length} changes${which} noticed: ${share.toFixed(0)} % (wanted: ${WANTED} %)`,
  );
  process.exitCode = share >= WANTED ? 0 : 1;
}

/** About `count` changes by chance, as places for `mutate`; one seed always gives the same ones for the same code. */
async function sample(from, count, start) {
  const places = (await Promise.all(from.map(placesIn))).flat();
  const chosen = [];
  let total = 0;
  for (const place of shuffled(places, start)) {
    if (total >= count) break;
    if (chosen.some((other) => other.file === place.file && overlaps(other, place))) continue;
    chosen.push(place);
    total += place.changes;
  }
  return chosen.map(({ file, from: a, to: b }) => `${file}:${a.line}:${a.column}-${b.line}:${b.column}`);
}

/** The places of one file that can be changed, and how many changes lie within each. */
async function placesIn(file) {
  const { mutants } = await (await instrumenter()).instrument(
    [{ name: file, content: readFileSync(file, "utf8"), mutate: true }],
    { plugins: null, excludedMutations: LEFT_OUT, ignorers: [] },
  );
  const places = new Map();
  for (const { location } of mutants) {
    // Lines count from 0 here, and from 1 where the places are read.
    const at = ({ line, column }) => ({ line: line + 1, column });
    places.set(JSON.stringify(location), { file, from: at(location.start), to: at(location.end) });
  }
  const all = [...places.values()];
  for (const place of all)
    place.changes = mutants.filter(({ location: { start, end } }) =>
      isWithin({ from: { ...start, line: start.line + 1 }, to: { ...end, line: end.line + 1 } }, place),
    ).length;
  return all.filter(({ changes }) => changes <= MOST_AT_ONE_PLACE);
}

async function instrumenter() {
  const near = createRequire(
    path.join(root, "scripts/mutants/node_modules/@stryker-mutator/core/package.json"),
  );
  const { createInjector } = await import(near.resolve("typed-inject"));
  const { createInstrumenter } = await import(near.resolve("@stryker-mutator/instrumenter"));
  const quiet = new Proxy({}, { get: (_, name) => () => !String(name).startsWith("is") && undefined });
  return createInjector()
    .provideValue("logger", quiet)
    .provideValue("getLogger", () => quiet)
    .provideValue("options", {})
    .injectFunction(createInstrumenter);
}

function compare(a, b) {
  return a.line - b.line || a.column - b.column;
}
function isWithin(inner, outer) {
  return compare(inner.from, outer.from) >= 0 && compare(inner.to, outer.to) <= 0;
}
function overlaps(a, b) {
  return compare(a.from, b.to) < 0 && compare(b.from, a.to) < 0;
}

/** Mulberry32: the same order for the same seed on every machine. */
function shuffled(list, from) {
  let state = from >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return list
    .map((item) => [random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
