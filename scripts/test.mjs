// `npm test`: everything, the same here and on a clean checkout. The last line is `N passed, N failed`.
// `npm test -- unit [pattern]`, `npm test -- e2e [pattern]`, ...: only that part.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { checkNode, ensureInstalled, root, runNode } from "./prepare.mjs";

const PARTS = ["types", "lint", "unit", "build", "e2e"];
const asked = process.argv.slice(2);
const part = PARTS.includes(asked[0]) ? asked[0] : null;
const patterns = part ? asked.slice(1) : asked;
if (asked.length > 0 && !part) {
  console.error(`npm test -- [${PARTS.join("|")}] [pattern]`);
  process.exit(2);
}
// The end-to-end tests run on a build, whoever asks for them.
const wanted = new Set(part === "e2e" ? ["build", "e2e"] : part ? [part] : PARTS);

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
  if (wanted.has("e2e")) {
    if (built) await e2e();
    else count("end-to-end tests", false, "They need the build.");
  }
}
report();

async function unit() {
  heading("Unit and property tests");
  const file = path.join(scratch, "unit.json");
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`];
  const { code } = await runNode([bin("vitest/vitest.mjs"), "run", ...reporters, ...patterns], {
    env: { NODE_ENV: "test", FORCE_COLOR: "" },
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
