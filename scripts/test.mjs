// `npm test`: what every change needs, the same here and on a clean checkout. The last line is `N passed, N failed`, after a
// list of how long each part took. `npm test -- unit [pattern]`, `npm test -- e2e [pattern]`, ...: only that part.
// `npm test -- thorough`: everything, with larger numbers (random graphs, kills, cuts), all tests on Restate, the unit tests
// and a smoke test on every Node version, the package, and a sample of mutants that the tests must detect.
// `npm test -- mutants [FILE ...] [--sample N] [--seed S]`: such changes alone; see scripts/mutants/run.mjs.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { installed as installedEngine, whyNoEngine } from "./engine-package.mjs";
import { ensureNode, nodeOf, otherNodes } from "./nodes.mjs";
import { ensureInstalled, npmCommand, root, runNode, runProgram } from "./prepare.mjs";

const USUAL = ["build", "unit", "lint", "engine", "e2e"];
const PARTS = [...USUAL, "nodes", "mutants"];
const asked = process.argv.slice(2);
const isThorough = asked[0] === "thorough";
const part = PARTS.includes(asked[0]) ? asked[0] : null;
const patterns = part || isThorough ? asked.slice(1) : asked;
if (asked.length > 0 && !part && !isThorough) {
  console.error(`npm test -- [${[...PARTS, "thorough"].join("|")}] [pattern]`);
  process.exit(2);
}
// These run on a build, whoever asks for them.
const onBuild = part === "nodes" || part === "e2e";
const wanted = new Set(onBuild ? ["build", part] : part ? [part] : isThorough ? PARTS : USUAL);

const beganAt = Date.now();
let passed = 0;
const failures = [];
/** Where the time went, in seconds: parts, files of unit tests, specs. */
const times = { parts: [], files: [], specs: [] };
const secondsSince = (began) => (Date.now() - began) / 1000;
const seconds = (since) => `${secondsSince(since).toFixed(0)} s`;
/** What tests read that have a larger form: see server/testing/thorough.ts. */
const size = isThorough ? { TROUPE_THOROUGH: "1" } : {};
const trimmed = (text, lines) => {
  // Frames inside packages say nothing about the failure.
  const all = stripColours(text)
    .trimEnd()
    .split("\n")
    .filter((line) => !/^\s+at .*node_modules/.test(line));
  return all.length <= lines
    ? all.join("\n")
    : [...all.slice(0, lines), `... ${all.length - lines} more lines`].join("\n");
};
const stripColours = (text) => text.replace(new RegExp("\\u001b\\[[0-9;]*m", "g"), "");

function count(name, ok, detail = "") {
  if (ok) passed += 1;
  else failures.push({ name, detail });
}

/** Does a part and notes how long it took. */
async function timed(name, work) {
  const began = Date.now();
  try {
    return await work();
  } finally {
    times.parts.push([name, secondsSince(began)]);
  }
}

/** A check that passes or fails as a whole; `steps` are programs, one after another. `isShown`: prints what they print. */
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

// Fetched while everything else runs.
const nodes = wanted.has("nodes") ? otherNodes() : Promise.resolve([]);

const bin = (name) => path.join("node_modules", name);
const routeTypes = [bin("next/dist/bin/next"), "typegen"];
/** Fetched while everything else runs, as well: why there is no package for runs on Restate, or null. */
const noEngine = wanted.has("engine") ? whyNoEngine() : Promise.resolve(null);

let built = false;
const beside = [...wanted].filter((name) => USUAL.includes(name));
if (beside.length > 0) heading(beside.join(", "));
// Two lanes for two cores: the build and what reads it in one, the unit tests, which take as long, in the other.
await Promise.all([onTheBuild(), unitAndEngine()]);
if (wanted.has("nodes")) await onBuildOnly("nodes", onEveryNode);
if (isThorough)
  for (const { version, node, missing } of await nodes)
    if (!missing) await timed(`unit, Node ${version}`, () => unit(version, node));
if (wanted.has("mutants")) await timed("mutants", mutants);
report();

async function onTheBuild() {
  if (wanted.has("build"))
    built = await timed("build", () => check("production build", [["scripts/start.mjs", "--build-only"]]));
  if (wanted.has("e2e")) await onBuildOnly("e2e", e2e);
  if (wanted.has("lint")) await lint();
}

async function unitAndEngine() {
  if (wanted.has("unit")) await timed("unit", () => unit());
  if (wanted.has("engine")) await timed("engine", engine);
}

async function lint() {
  await timed("format", () =>
    check("format, import order, accessibility", [
      [bin("@biomejs/biome/bin/biome"), "check", ".", "--error-on-warnings"],
    ]),
  );
  await timed("names and figures", () => check("names", [["scripts/figures.mjs"]], { isShown: true }));
  await timed("unused code", () => check("unused code", [[bin("knip/bin/knip.js"), "--no-progress"]]));
  // The build generates the route types, which the linter and the compiler read.
  if (!built) await check("route types", [routeTypes]);
  await timed("types and lint", typesAndLint);
}

/** Types and rules in one pass over everything whose packages are there. */
async function typesAndLint() {
  await noEngine;
  const unread = installedEngine() ? [] : ["--ignore-pattern", "packages/**"];
  await check("types and lint", [[bin("oxlint/bin/oxlint"), "--deny-warnings", ...unread]]);
}

async function onBuildOnly(name, work) {
  if (built) await timed(name, work);
  else count(name, false, "This needs the build.");
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

/** Tests runs on a real Restate, from a separate package that is fetched once. As part of the usual tests, only those that take seconds. */
async function engine() {
  const why = await noEngine;
  if (why) return console.log(`  skipped  runs on Restate: ${why}`);
  const only = part || isThorough ? [] : ["short.test.ts", "balancer.test.ts", "sessions.test.ts"];
  await vitest("runs on Restate", "engine", [
    "--config",
    "packages/engine-restate/vitest.config.mjs",
    ...only,
  ]);
}

/** Tests of one configuration, each of which counts. */
async function vitest(title, report, options, node = process.execPath) {
  const began = Date.now();
  const file = path.join(scratch, `${report}.json`);
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`];
  // Quiet beside other parts: what failed is told at the end, out of the report.
  const args = [bin("vitest/vitest.mjs"), "run", ...options, ...reporters, ...patterns];
  const { code, output } = await runNode(args, {
    node,
    quiet: true,
    // What a test starts by the name "node" is the same version.
    env: {
      ...size,
      NODE_ENV: "test",
      FORCE_COLOR: "",
      PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
    },
  });
  if (!existsSync(file)) return count(title, false, `They did not run.\n${trimmed(output, 40)}`);
  const { good, bad } = countReport(JSON.parse(readFileSync(file, "utf8")).testResults);
  if (code !== 0 && bad === 0)
    count(title, false, `Something failed outside of the tests.\n${trimmed(output, 80)}`);
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

/** Changes made on purpose: with files or a sample of those that were asked for, else a sample. */
async function mutants() {
  heading("Changes made on purpose");
  const name = "tests notice changes";
  const home = path.join(root, "scripts", "mutants");
  if (!existsSync(path.join(home, "node_modules", "@stryker-mutator"))) {
    // Apart from what an installation needs: only who asks for these tests fetches it.
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
  count(name, code === 0, "Too few of them were noticed; they are listed above.");
}

async function e2e() {
  heading("End-to-end tests, on the production build");
  const { ensureBrowser } = await import("./browser.mjs");
  const browser = ensureBrowser();
  if (!browser)
    return count(
      "end-to-end tests",
      false,
      "There is no Chromium here, and none could be installed. Set CHROMIUM_PATH to one.",
    );
  const file = path.join(scratch, "e2e.json");
  const data = path.join(scratch, "e2e-data");
  mkdirSync(data);
  const { code } = await runNode([bin("@playwright/test/cli.js"), "test", ...patterns], {
    env: { ...browser, ...size, TROUPE_E2E_DATA: data, TROUPE_E2E_REPORT: file, FORCE_COLOR: "" },
  });
  if (!existsSync(file)) return count("end-to-end tests", false, "They did not run; the reason is above.");
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
      trimmed(
        errors.map(({ message }) => message).join("\n") || "Something failed outside of the tests.",
        25,
      ),
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
  if (failures.length > 0) heading("What failed");
  for (const { name, detail } of failures)
    console.log(
      `\n  ${name}\n${detail
        .split("\n")
        .map((line) => `    ${line}`)
        .join("\n")}`,
    );
  heading(`Took ${seconds(beganAt)}`);
  table("by part (some beside each other)", times.parts);
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
