// `npm test`: everything, the same here and on a clean checkout. The last line is `N passed, N failed`.
// `npm test -- unit [pattern]`, `npm test -- e2e [pattern]`, ...: only that part. `npm test -- thorough`: everything, and
// the unit tests on every Node version besides.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { otherNodes } from "./nodes.mjs";
import { checkNode, ensureInstalled, root, runNode } from "./prepare.mjs";

const PARTS = ["types", "lint", "unit", "build", "nodes", "e2e"];
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
const wanted = new Set(onBuild ? ["build", part] : part ? [part] : PARTS);

const beganAt = Date.now();
let passed = 0;
const failures = [];
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;
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

/** A check that passes or fails as a whole. */
async function check(name, steps) {
  const began = Date.now();
  for (const step of steps) {
    const { code, output } = await runNode(step, { quiet: true });
    if (code === 0) continue;
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

checkNode();
ensureInstalled();

// Fetched while everything else runs.
const nodes = wanted.has("nodes") ? otherNodes() : Promise.resolve([]);

const bin = (name) => path.join("node_modules", name);
const checks = [
  [
    "types",
    "types",
    [
      [bin("next/dist/bin/next"), "typegen"],
      [bin("typescript/bin/tsc"), "--noEmit"],
    ],
  ],
  ["lint", "format and import order", [[bin("@biomejs/biome/bin/biome"), "check", "."]]],
  ["lint", "lint", [[bin("eslint/bin/eslint.js"), ".", "--max-warnings", "0"]]],
].filter(([kind]) => wanted.has(kind));
if (checks.length > 0) {
  heading("Types and lint");
  // Route types first, alone: the others read them.
  const [first, ...rest] = checks;
  await check(first[1], first[2]);
  await Promise.all(rest.map(([, name, steps]) => check(name, steps)));
}
if (wanted.has("unit")) await unit();
if (wanted.has("build")) {
  heading("Build");
  const built = await check("production build", [["scripts/start.mjs", "--build-only"]]);
  for (const [name, run] of [
    ["nodes", onEveryNode],
    ["e2e", e2e],
  ]) {
    if (!wanted.has(name)) continue;
    if (built) await run();
    else count(name, false, "This needs the build.");
  }
}
report();

/** The built server on every Node version: a run, kill -9, a second start. */
async function onEveryNode() {
  heading("The same build on other versions of Node");
  // One after another: side by side on a busy machine, a start would take longer than it may.
  for (const { version, node, missing } of await nodes) {
    if (missing) {
      console.log(`  skipped  Node ${version}: ${missing}`);
      continue;
    }
    await check(`Node ${version}: a run, kill -9, a second start`, [
      ["--import", "tsx", "e2e/node-walk.ts", node],
    ]);
    if (isThorough) await unit(version, node);
  }
}

async function unit(version = process.versions.node, node = process.execPath) {
  heading(`Unit and property tests on Node ${version}`);
  const file = path.join(scratch, `unit-${version}.json`);
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`];
  const { code } = await runNode([bin("vitest/vitest.mjs"), "run", ...reporters, ...patterns], {
    node,
    // What a test starts by the name "node" is the same version.
    env: {
      NODE_ENV: "test",
      FORCE_COLOR: "",
      PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
    },
  });
  if (!existsSync(file)) return count("unit tests", false, "They did not run; the reason is above.");
  const { testResults } = JSON.parse(readFileSync(file, "utf8"));
  let bad = 0;
  for (const { name, status, message, assertionResults } of testResults) {
    const where = path.relative(root, name);
    for (const { fullName, status: outcome, failureMessages } of assertionResults) {
      if (outcome !== "passed" && outcome !== "failed") continue;
      bad += outcome === "failed" ? 1 : 0;
      count(`${where}: ${fullName}`, outcome === "passed", trimmed(failureMessages.join("\n"), 25));
    }
    if (status === "failed" && !assertionResults.some(({ status: outcome }) => outcome === "failed")) {
      bad += 1;
      count(where, false, trimmed(message ?? "This file could not be loaded.", 25));
    }
  }
  if (code !== 0 && bad === 0)
    count("unit tests", false, "Something failed outside of the tests; it is shown above.");
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
    env: { ...browser, TROUPE_E2E_DATA: data, TROUPE_E2E_REPORT: file, FORCE_COLOR: "" },
  });
  if (!existsSync(file)) return count("end-to-end tests", false, "They did not run; the reason is above.");
  const { suites, errors } = JSON.parse(readFileSync(file, "utf8"));
  let bad = 0;
  for (const { title, ok, status, error } of suites.flatMap((suite) => specsOf(suite, []))) {
    if (status === "skipped") continue;
    bad += ok ? 0 : 1;
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
  console.log(`\nTook ${seconds(beganAt)}.`);
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}
