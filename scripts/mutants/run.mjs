// `npm test -- mutants [FILE ...]`: mutation testing with Stryker. Lists the mutants that no test detects. `--sample N
// [--seed S]` tries about N random mutants in the most critical folders. `--tests PATTERN` (repeatable) runs only these
// tests: fast and strict, because tests of other folders may also detect a mutant.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
const out = path.join(root, ".cache", "mutants");

/** Where a bug would cost people the most. */
const CRITICAL = [
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
/** Texts for people may change: tests don't have to assert them. */
const EXCLUDED_MUTATIONS = ["StringLiteral"];
/** A location with more mutants is skipped in favor of the smaller locations inside it. */
const MAX_PER_LOCATION = 8;
/** The mutation score to reach, in percent. */
const MIN_SCORE = 85;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 86_400_000)) },
    tests: { type: "string", multiple: true, default: [] },
  },
});
process.chdir(root);
mkdirSync(out, { recursive: true });

const files = (positionals.length > 0 ? positionals : CRITICAL)
  .flatMap((pattern) => globSync(pattern).map((file) => file.split(path.sep).join("/")))
  .filter(isTested);
if (files.length === 0) {
  console.error("No source file matches.");
  process.exit(2);
}
const seed = Number(options.seed);
const mutate = options.sample === undefined ? files : await sample(files, Number(options.sample), seed);
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
    mutator: { excludedMutations: EXCLUDED_MUTATIONS },
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
    env: { ...process.env, TROUPE_MUTANTS_TESTS: JSON.stringify(options.tests) },
  },
);
if (status !== 0) process.exit(status ?? 1);
printReport();

/** Prints the undetected mutants and the mutation score. */
function printReport() {
  const { files: read } = JSON.parse(readFileSync(report, "utf8"));
  const all = Object.entries(read).flatMap(([file, { mutants }]) => mutants.map((one) => ({ file, ...one })));
  const detected = all.filter(({ status: of }) => of === "Killed" || of === "Timeout");
  const undetected = all.filter(({ status: of }) => of === "Survived" || of === "NoCoverage");
  console.log("\nUndetected");
  for (const { file, location, replacement = "", status: of } of undetected) {
    const why = of === "NoCoverage" ? "no test covers it" : "the tests pass";
    const change = replacement.replace(/\s+/g, " ").slice(0, 80);
    console.log(`  ${file}:${location.start.line}:${location.start.column}  ${change}  (${why})`);
  }
  const total = detected.length + undetected.length;
  const score = (100 * detected.length) / Math.max(1, total);
  const which = options.sample === undefined ? "" : ` of a sample with --seed ${seed}`;
  console.log(
    `\nDetected ${detected.length} of ${total} mutants${which}: ${score.toFixed(0)}% (minimum: ${MIN_SCORE}%)`,
  );
  process.exitCode = score >= MIN_SCORE ? 0 : 1;
}

/** About `count` random mutants, as locations for `mutate`. The same seed and code give the same ones. */
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

/** The locations in a file that can be mutated, with the number of mutants in each. */
async function placesIn(file) {
  const { mutants } = await (await instrumenter()).instrument(
    [{ name: file, content: readFileSync(file, "utf8"), mutate: true }],
    { plugins: null, excludedMutations: EXCLUDED_MUTATIONS, ignorers: [] },
  );
  const places = new Map();
  for (const { location } of mutants) {
    // Lines start at 0 here, and at 1 in Stryker's `mutate`.
    const at = ({ line, column }) => ({ line: line + 1, column });
    places.set(JSON.stringify(location), { file, from: at(location.start), to: at(location.end) });
  }
  const all = [...places.values()];
  for (const place of all)
    place.changes = mutants.filter(({ location: { start, end } }) =>
      isWithin({ from: { ...start, line: start.line + 1 }, to: { ...end, line: end.line + 1 } }, place),
    ).length;
  return all.filter(({ changes }) => changes <= MAX_PER_LOCATION);
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
