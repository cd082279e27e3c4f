// `npm test`: everything a change needs, also on a clean checkout. Prints how long each part took; the last line is
// `N passed, N failed`. `npm test -- unit [pattern]`, `npm test -- e2e [pattern]`, ...: one part.
// `npm test -- thorough`: everything, with larger numbers (random graphs, kills, cuts), all tests on Restate, the unit tests
// and a smoke test on every Node version, the package, and a sample of mutants that the tests must detect.
// `npm test -- mutants [FILE ...] [--sample N] [--seed S]`: mutation tests; see scripts/mutants/run.mjs.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { installed as installedEngine, whyNoEngine } from "./engine-package.mjs";
import { ensureNode, nodeOf, otherNodes } from "./nodes.mjs";
import { ensureInstalled, npmCommand, root, runNode, runProgram } from "./prepare.mjs";

const DEFAULT_PARTS = ["build", "unit", "lint", "engine", "e2e"];
const PARTS = [...DEFAULT_PARTS, "nodes", "mutants"];
const argv = process.argv.slice(2);
const isThorough = argv[0] === "thorough";
const part = PARTS.includes(argv[0]) ? argv[0] : null;
const patterns = part || isThorough ? argv.slice(1) : argv;
if (argv.length > 0 && !part && !isThorough) {
  console.error(`Usage: npm test -- [${[...PARTS, "thorough"].join("|")}] [pattern]`);
  process.exit(2);
}
// These need a build.
const needsBuild = part === "nodes" || part === "e2e";
const wanted = new Set(needsBuild ? ["build", part] : part ? [part] : isThorough ? PARTS : DEFAULT_PARTS);

const beganAt = Date.now();
let passed = 0;
const failures = [];
/** Durations in seconds, of parts, unit test files and specs. */
const times = { parts: [], files: [], specs: [] };
const secondsSince = (began) => (Date.now() - began) / 1000;
const seconds = (since) => `${secondsSince(since).toFixed(0)} s`;
/** Selects the larger form of some tests: see server/testing/thorough.ts. */
const size = isThorough ? { TROUPE_THOROUGH: "1" } : {};
const trimmed = (text, lines) => {
  // Stack frames inside packages don't explain the failure.
  const all = stripColors(text)
    .trimEnd()
    .split("\n")
    .filter((line) => !/^\s+at .*node_modules/.test(line));
  return all.length <= lines
    ? all.join("\n")
    : [...all.slice(0, lines), `... ${all.length - lines} more lines`].join("\n");
};
const stripColors = (text) => text.replace(new RegExp("\\u001b\\[[0-9;]*m", "g"), "");

function count(name, ok, detail = "") {
  if (ok) passed += 1;
  else failures.push({ name, detail });
}

/** Runs a part and records its duration. */
async function timed(name, work) {
  const began = Date.now();
  try {
    return await work();
  } finally {
    times.parts.push([name, secondsSince(began)]);
  }
}

/** A check that passes or fails as a whole. `steps` are programs that run in sequence; `isShown` prints their output. */
async function check(name, steps, { isShown = false } = {}) {
  const began = Date.now();
  for (const step of steps) {
    const { code, output } = await runNode(step, { quiet: true });
    if (code === 0) {
      if (isShown) console.log(output.trimEnd());
      continue;
    }
    count(name, false, trimmed(output, 80));
    console.log(`  FAILED  ${name} (${seconds(began)})`);
    return false;
  }
  count(name, true);
  console.log(`  passed  ${name} (${seconds(began)})`);
  return true;
}

function heading(text) {
  console.log(`\n${text}`);
}

const scratch = mkdtempSync(path.join(os.tmpdir(), "troupe-test-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

await ensureNode(() => ensureInstalled({ tools: true }));
await ensureInstalled({ tools: true });

// Fetched while other parts run.
const nodes = wanted.has("nodes") ? otherNodes() : Promise.resolve([]);

const bin = (name) => path.join("node_modules", name);
const routeTypes = [bin("next/dist/bin/next"), "typegen"];
/** Installed while other parts run. Null, or why there is no package for runs on Restate. */
const noEngine = wanted.has("engine") ? whyNoEngine() : Promise.resolve(null);

let built = false;
const concurrent = [...wanted].filter((name) => DEFAULT_PARTS.includes(name));
if (concurrent.length > 0) heading(concurrent.join(", "));
// One lane per core: the build and what needs it, and the unit tests, which take as long.
await Promise.all([buildLane(), unitLane()]);
if (wanted.has("nodes")) await ifBuilt("nodes", onEveryNode);
if (isThorough)
  for (const { version, node, missing } of await nodes)
    if (!missing) await timed(`unit, Node ${version}`, () => unit(version, node));
if (wanted.has("mutants")) await timed("mutants", mutants);
report();

async function buildLane() {
  if (wanted.has("build"))
    built = await timed("build", () => check("production build", [["scripts/start.mjs", "--build-only"]]));
  if (wanted.has("e2e")) await ifBuilt("e2e", e2e);
  if (wanted.has("lint")) await lint();
}

async function unitLane() {
  if (wanted.has("unit")) await timed("unit", () => unit());
  if (wanted.has("engine")) await timed("engine", engine);
}

async function lint() {
  await timed("format", () =>
    check("format, import order, accessibility", [
      [bin("@biomejs/biome/bin/biome"), "check", ".", "--error-on-warnings"],
    ]),
  );
  await timed("names and figures", () =>
    check("names", [["scripts/figures.mjs"], ["scripts/visible-text.mjs"]], { isShown: true }),
  );
  await timed("unused code", () => check("unused code", [[bin("knip/bin/knip.js"), "--no-progress"]]));
  // The build generates the route types, which the linter and the compiler read.
  if (!built) await check("route types", [routeTypes]);
  await timed("types and lint", typesAndLint);
}

/** Types and rules in one pass, over all code whose packages are installed. */
async function typesAndLint() {
  await noEngine;
  const ignored = installedEngine() ? [] : ["--ignore-pattern", "packages/**"];
  await check("types and lint", [[bin("oxlint/bin/oxlint"), "--deny-warnings", ...ignored]]);
}

async function ifBuilt(name, work) {
  if (built) await timed(name, work);
  else count(name, false, "Needs the build, which failed.");
}

/** The built server on every Node version: a run, kill -9, a second start. */
async function onEveryNode() {
  const walks = (await nodes).map(({ version, node, missing }) => {
    if (!missing)
      return check(`Node ${version}: a run, kill -9, a second start`, [
        ["--import", "tsx", "e2e/walks/node-walk.ts", node],
      ]);
    console.log(`  skipped  Node ${version}: ${missing}`);
    return null;
  });
  await Promise.all(walks);
  await onOldNode();
  await onPackage();
}

/** The output of `npm run pack`, installed into an empty folder. */
const onPackage = () =>
  check("the package in an empty folder: a run, a backup, its restore", [
    ["--import", "tsx", "e2e/walks/package-walk.ts", process.execPath],
  ]);

/** An older Node continues on a newer one. */
async function onOldNode() {
  const { node, missing } = await nodeOf("20.19.0");
  if (missing) return console.log(`  skipped  Node 20: ${missing}`);
  const { code, output } = await runNode(["scripts/troupe.mjs", "--version"], { node, quiet: true });
  count("Node 20 continues on a newer one", code === 0 && /needs Node 22/.test(output), output);
}

async function unit(version = process.versions.node, node = process.execPath) {
  await vitest(`unit and property tests on Node ${version}`, `unit-${version}`, [], node);
}

/** Tests runs on a real Restate, from a separate package. By default, only those that take seconds. */
async function engine() {
  const reason = await noEngine;
  if (reason) return console.log(`  skipped  runs on Restate: ${reason}`);
  const only = part || isThorough ? [] : ["short.test.ts", "balancer.test.ts", "sessions.test.ts"];
  await vitest("runs on Restate", "engine", [
    "--config",
    "packages/engine-restate/vitest.config.mjs",
    ...only,
  ]);
}

/** Runs Vitest with one configuration. Each test counts. */
async function vitest(title, report, options, node = process.execPath) {
  const began = Date.now();
  const file = path.join(scratch, `${report}.json`);
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`];
  // Quiet, because parts run concurrently. Failures are printed at the end, from the report.
  const args = [bin("vitest/vitest.mjs"), "run", ...options, ...reporters, ...patterns];
  const { code, output } = await runNode(args, {
    node,
    quiet: true,
    // Programs that tests start as "node" get the same version.
    env: {
      ...size,
      NODE_ENV: "test",
      FORCE_COLOR: "",
      PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
    },
  });
  if (!existsSync(file)) return count(title, false, `The tests did not run.\n${trimmed(output, 40)}`);
  const { good, bad } = countReport(JSON.parse(readFileSync(file, "utf8")).testResults);
  if (code !== 0 && bad === 0) count(title, false, `A failure outside of the tests.\n${trimmed(output, 80)}`);
  const outcome = code === 0 ? "passed " : "FAILED ";
  console.log(`  ${outcome} ${title}: ${good} of ${good + bad} (${seconds(began)})`);
}

function countReport(testResults) {
  let bad = 0;
  let good = 0;
  for (const { name, status, message, assertionResults, startTime, endTime } of testResults) {
    const where = path.relative(root, name);
    times.files.push([where, (endTime - startTime) / 1000]);
    for (const { fullName, status: outcome, failureMessages } of assertionResults) {
      if (outcome !== "passed" && outcome !== "failed") continue;
      if (outcome === "failed") bad += 1;
      else good += 1;
      count(`${where}: ${fullName}`, outcome === "passed", trimmed(failureMessages.join("\n"), 25));
    }
    if (status === "failed" && !assertionResults.some(({ status: outcome }) => outcome === "failed")) {
      bad += 1;
      count(where, false, trimmed(message ?? "This file could not be loaded.", 25));
    }
  }
  return { good, bad };
}

/** Mutation tests: of the given files or sample, else of a default sample. */
async function mutants() {
  heading("Mutation tests");
  const name = "mutation tests";
  const home = path.join(root, "scripts", "mutants");
  if (!existsSync(path.join(home, "node_modules", "@stryker-mutator"))) {
    // A separate installation, fetched when these tests first run.
    const [npm, args, options] = npmCommand([
      "ci",
      "--ignore-scripts",
      "--legacy-peer-deps",
      "--no-audit",
      "--no-fund",
    ]);
    const { code, output } = await runProgram(npm, args, { ...options, cwd: home });
    if (code !== 0) return count(name, false, trimmed(output, 20));
  }
  const { code } = await runNode([
    path.join(home, "run.mjs"),
    ...(patterns.length > 0 ? patterns : ["--sample", "80"]),
  ]);
  count(name, code === 0, "Too few mutants were detected; see the list above.");
}

async function e2e() {
  heading("End-to-end tests, on the production build");
  const { ensureBrowser } = await import("./browser.mjs");
  const browser = ensureBrowser();
  if (!browser)
    return count("end-to-end tests", false, "Found no Chromium and couldn't install one. Set CHROMIUM_PATH.");
  const file = path.join(scratch, "e2e.json");
  const data = path.join(scratch, "e2e-data");
  mkdirSync(data);
  const { code } = await runNode([bin("@playwright/test/cli.js"), "test", ...patterns], {
    env: { ...browser, ...size, TROUPE_E2E_DATA: data, TROUPE_E2E_REPORT: file, FORCE_COLOR: "" },
  });
  if (!existsSync(file)) return count("end-to-end tests", false, "The tests did not run; see above.");
  const { suites, errors } = JSON.parse(readFileSync(file, "utf8"));
  let bad = 0;
  for (const { title, ok, status, error, ms } of suites.flatMap((suite) => specsOf(suite, []))) {
    if (status === "skipped") continue;
    bad += ok ? 0 : 1;
    times.specs.push([title, ms / 1000]);
    count(title, ok, trimmed(error, 40));
  }
  if (code !== 0 && bad === 0)
    count(
      "end-to-end tests",
      false,
      trimmed(errors.map(({ message }) => message).join("\n") || "A failure outside of the tests.", 25),
    );
}

function specsOf(suite, path) {
  const here = [...path, suite.title].filter(Boolean);
  return [
    ...(suite.specs ?? []).flatMap(({ title, tests }) =>
      tests.map(({ status, results }) => ({
        title: [...here, title].join(": "),
        ok: status === "expected" || status === "flaky",
        status,
        ms: results.reduce((sum, { duration }) => sum + duration, 0),
        error:
          results
            .at(-1)
            ?.errors?.map(({ message }) => message)
            .join("\n") ?? "",
      })),
    ),
    ...(suite.suites ?? []).flatMap((inner) => specsOf(inner, here)),
  ];
}

function report() {
  if (failures.length > 0) heading("Failures");
  for (const { name, detail } of failures)
    console.log(
      `\n  ${name}\n${detail
        .split("\n")
        .map((line) => `    ${line}`)
        .join("\n")}`,
    );
  heading(`Took ${seconds(beganAt)}`);
  table("by part (some ran concurrently)", times.parts);
  table("slowest test files", slowest(times.files));
  table("slowest specs", slowest(times.specs));
  console.log("");
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

function slowest(rows) {
  return rows.toSorted(([, a], [, b]) => b - a).slice(0, 10);
}

function table(title, rows) {
  if (rows.length === 0) return;
  console.log(`\n  ${title}`);
  for (const [name, took] of rows) console.log(`  ${took.toFixed(1).padStart(7)} s  ${name.slice(0, 100)}`);
}
