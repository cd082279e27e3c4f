import { writeFileSync } from "node:fs";
import path from "node:path";
import { openDb } from "@/db/open";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { EMPTY_LIBRARY, withLibrary } from "@/server/domain/library/library";
import { findProblems } from "@/server/domain/problems/problems";
import type { MutantReport } from "@/server/domain/scenario/mutants";
import type { SuiteReport, TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { nothingImported } from "@/server/interop/import/format";
import type { TestParts } from "@/server/runner/scenario/answering";
import { EMPTY_BOOK } from "@/server/runner/scenario/judging";
import { runMutants } from "@/server/runner/scenario/run-mutants";
import type { Tested } from "@/server/runner/scenario/run-scenario";
import { runSuite } from "@/server/runner/scenario/run-suite";
import { newServices } from "@/server/services";
import { parseOptions, UsageError } from "./arguments";
import { calledFrom, callOf } from "./called";
import { findingLine } from "./import-command";
import { junitOf } from "./output/junit";
import { printable, printableJson, printableLine } from "./output/printable";
import type { Stdio } from "./output/stdio";
import { readWorkflowAt, UnusableError } from "./read-path";

export const TEST_USAGE = `Runs the tests in workflow files, without calling models, tools or people.

  ${callOf("run")} test FILE... [options]

  --only NAME    Run only the test with this id, and tests whose name contains this; repeatable
  --junit FILE   Write a report as JUnit XML (one workflow file only)
  --mutants      Make small changes to the workflow and list those that no test detects
  --json         Print the report as one JSON object (one workflow file only)

Exit code: 0 all passed, 1 some failed, 2 some couldn't run. Changes that --mutants finds undetected don't count.
`;

const FAILED = 1;
const UNUSABLE = 2;

interface TestCommand {
  file: string;
  only: string[];
  junit: string | null;
  mutants: boolean;
  json: boolean;
}

/** Runs the tests of files and returns the exit code: the highest of all files. */
export async function testCommand(argv: readonly string[], stdio: Stdio): Promise<number> {
  try {
    const commands = readCommands(argv);
    if (!commands) {
      stdio.out(TEST_USAGE);
      return 0;
    }
    let code = 0;
    for (const command of commands) {
      if (commands.length > 1) stdio.out(`${printableLine(command.file)}\n`);
      code = Math.max(code, await runOrReport(command, stdio));
      if (commands.length > 1) stdio.out("\n");
    }
    return code;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stdio.err(`${printable(error.message)}\n\n${TEST_USAGE}`);
    return UNUSABLE;
  }
}

async function runOrReport(command: TestCommand, stdio: Stdio): Promise<number> {
  try {
    return await runFile(command, stdio);
  } catch (error) {
    if (!(error instanceof UnusableError)) throw error;
    stdio.err(`${error.lines.map(printableLine).join("\n")}\n`);
    return UNUSABLE;
  }
}

/** One command for each file; null asks for help. Throws UsageError. */
function readCommands(argv: readonly string[]): TestCommand[] | null {
  const { values, positionals: files } = parseOptions(argv, OPTIONS);
  if (values.help) return null;
  if (files.length === 0) throw new UsageError("Missing workflow file.");
  if (files.length > 1 && (values.junit !== undefined || values.json))
    throw new UsageError("--junit and --json take a single file.");
  return files.map((file) => ({
    file,
    only: values.only ?? [],
    junit: values.junit ?? null,
    mutants: values.mutants ?? false,
    json: values.json ?? false,
  }));
}

const OPTIONS = {
  only: { type: "string", multiple: true },
  junit: { type: "string" },
  mutants: { type: "boolean" },
  json: { type: "boolean" },
} as const;

async function runFile(command: TestCommand, stdio: Stdio): Promise<number> {
  const { imported, findings } = await readWorkflowAt(command.file);
  const { graph, name, roles, tests } = { ...nothingImported(), ...imported };
  if (!graph)
    throw new UnusableError([
      `${command.file} is not a workflow file that Troupe can read:`,
      ...findings.map(findingLine),
    ]);
  // An unreadable test must not count as passed.
  const unread = findings.filter(({ at, level }) => at.startsWith("tests") && level === "dropped");
  if (unread.length > 0) throw new UnusableError(["Some tests can't be read:", ...unread.map(findingLine)]);
  const chosen = tests.filter((test) => isMeant(test, command.only));
  if (chosen.length === 0)
    throw new UnusableError([
      tests.length === 0 ? `${command.file} has no tests.` : `No test matches --only.`,
    ]);

  const troupe = newServices(openDb(":memory:"), { dataDir: null });
  troupe.roles.seed(builtinRoles);
  await troupe.toolSources.start();
  for (const role of roles) troupe.roles.put(role);
  const own = new Set(roles.map((role) => role.name));
  const allRoles = [...roles, ...troupe.roles.all().filter((role) => !own.has(role.name))];
  const tested: Tested = {
    name: name || graph.graph_id,
    graph: withLibrary(graph, troupe.library),
    roles: allRoles,
    installation: troupe.installation,
  };
  try {
    refuseUnrunnable(command.file, tested);
    return await runTests(command, { tested, tests: chosen, parts: troupe.testParts }, stdio);
  } finally {
    await troupe.toolSources.stop();
  }
}

async function runTests(
  command: TestCommand,
  asked: { tested: Tested; tests: readonly ScenarioTest[]; parts: TestParts },
  stdio: Stdio,
): Promise<number> {
  const print = (line: string) => {
    if (!command.json) stdio.out(`${printableLine(line)}\n`);
  };
  const took = new Map<string, number>();
  const suite = await runSuite({
    ...asked,
    // Verdicts are stored in the app only.
    book: EMPTY_BOOK,
    onReport(report, ms) {
      took.set(report.test_id, ms / 1000);
      for (const line of linesOf(report)) print(line);
    },
  });
  print("");
  print(totalOf(suite));
  if (command.junit !== null) writeReport(command.junit, junitOf(suite, took));
  const mutants = command.mutants ? await runMutants(asked) : null;
  for (const line of mutants ? mutantLines(mutants) : []) print(line);
  if (command.json)
    stdio.out(`${printableJson({ ...suite, ...defined({ mutants: mutants ?? undefined }) })}\n`);
  if (suite.not_run > 0) return UNUSABLE;
  return suite.failed > 0 ? FAILED : 0;
}

const isMeant = ({ id, name }: ScenarioTest, only: readonly string[]): boolean =>
  only.length === 0 || only.some((word) => id === word || name.toLowerCase().includes(word.toLowerCase()));

function refuseUnrunnable(file: string, { graph, roles }: Tested): void {
  const problems = findProblems(graph, [...roles], undefined, { library: EMPTY_LIBRARY }).filter(
    ({ severity }) => severity === "error",
  );
  if (problems.length > 0)
    throw new UnusableError([
      `${file} can't be tested yet:`,
      ...problems.map(({ message, code }) => `  ✗ ${message} (${code})`),
    ]);
}

function writeReport(given: string, xml: string): void {
  try {
    writeFileSync(path.resolve(calledFrom(), given), xml);
  } catch (error) {
    throw new UnusableError([`Can't write the report: ${errorMessage(error)}`]);
  }
}

const SIGNS: Readonly<Record<TestReport["status"], string>> = { passed: "✓", failed: "✗", not_run: "–" };

function linesOf({
  name,
  status,
  sentence,
  results,
  problems,
  outcome,
  missed,
  question,
}: TestReport): string[] {
  const simulated = outcome?.simulated ? " (answered by the offline demo model)" : "";
  const head = `${SIGNS[status]} ${name}${simulated}`;
  if (status === "passed") return [head];
  const failed = results.flatMap((result) => (result.status === "failed" ? [result.sentence] : []));
  const stopped = missed !== null || question !== null || failed.length === 0;
  const details =
    status === "not_run" && problems.length > 0 ? problems : [...(stopped ? [sentence] : []), ...failed];
  return [head, ...details.map((line) => `    ${line}`)];
}

function totalOf({ passed, failed, not_run }: SuiteReport): string {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (not_run > 0) parts.push(`${not_run} couldn't run`);
  return `${parts.join(", ")}.`;
}

function mutantLines({ mutants, noticed, why_not }: MutantReport): string[] {
  if (why_not !== null) return ["", why_not];
  const survivors = mutants.filter(({ status }) => status === "survived");
  const head = `Tested ${mutants.length} ${mutants.length === 1 ? "change" : "changes"} to the workflow; the tests detected ${noticed}.`;
  if (survivors.length === 0) return ["", head];
  return ["", head, "Undetected:", ...survivors.map(({ sentence }) => `  ${sentence}`)];
}
