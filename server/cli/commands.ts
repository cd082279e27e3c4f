import process from "node:process";
import { openDb } from "@/db/open";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields } from "@/server/domain/graph/run-input";
import { capabilitiesOf } from "@/server/domain/library/capabilities";
import { withLibrary } from "@/server/domain/library/library";
import { knownCost } from "@/server/domain/model/cost";
import type { Problem } from "@/server/domain/problems/problems";
import type { RunState } from "@/server/domain/run";
import { unknownStop } from "@/server/domain/run/commands/command";
import { askOwnServer } from "@/server/egress/own-server";
import { nothingImported } from "@/server/interop/import/format";
import { readyToRun, type StartErrors } from "@/server/runner/lifecycle/launch";
import { newServices } from "@/server/services";
import { newAnswering } from "./answering";
import { type Command, readCommand, USAGE, UsageError } from "./arguments";
import { callOf } from "./called";
import { deployCommand } from "./deploy/deploy-command";
import { explainCommand } from "./explain";
import { foreign } from "./foreign";
import { findingLine, importCommand } from "./import-command";
import { isOperationCommand, operationCommand } from "./operation-command";
import { capabilityLines } from "./output/capability-lines";
import { printable, printableJson, printableLine } from "./output/printable";
import { type Progress, type Screen, watchRun } from "./output/progress";
import type { Stdio } from "./output/stdio";
import { readWorkflowAt, UnusableError } from "./read-path";
import type { ServerTerminal } from "./server-ask";
import { newStepping } from "./stepping";
import { testCommand } from "./test-command";

const EXIT: Record<FinalStatus, number> = { COMPLETED: 0, ERROR: 1, INCOMPLETE: 3, CANCELLED: 130 };
const UNUSABLE = 2;

/** Executes `npm run workflow -- ARGV`: a run of a file, or another command; returns the exit code. */
export async function runCommand(argv: readonly string[], stdio: Stdio): Promise<number> {
  const serverTerminal = newServerTerminal(stdio);
  let command: Command | null = null;
  try {
    if (argv[0] === "import") return await importCommand(argv.slice(1), stdio);
    if (isOperationCommand(argv[0])) return await operationCommand(argv, serverTerminal);
    if (argv[0] === "test") return await testCommand(argv.slice(1), stdio);
    if (argv[0] === "deploy") return await deployCommand(argv.slice(1), stdio, serverTerminal);
    if (argv[0] === "explain") return explainCommand(argv.slice(1), stdio);
    command = readCommand(argv);
    if (!command) {
      stdio.out(USAGE);
      return 0;
    }
    return await runFile(command, stdio);
  } catch (error) {
    if (error instanceof UsageError) {
      stdio.err(`${printable(error.message)}\nSee ${callOf("run")} --help.\n`);
      return UNUSABLE;
    }
    if (error instanceof UnusableError) {
      stdio.err(`${error.lines.map(printableLine).join("\n")}\n`);
      if (command?.json)
        stdio.out(asLine({ final_status: null, error: { message: error.lines[0] ?? "" }, ...error.detail }));
      return UNUSABLE;
    }
    throw error;
  }
}

/** Runs a workflow file from beginning to end, or prints its capabilities; returns the exit code. */
async function runFile(command: Command, stdio: Stdio): Promise<number> {
  if (command.speed !== null) process.env.TROUPE_OFFLINE_SPEED = String(command.speed);
  const file = await readFile(command, stdio);
  // A terminal's run stays in this process: no worker could report to it.
  const env: NodeJS.ProcessEnv = { ...process.env, TROUPE_ENGINE: "embedded" };
  delete env.TROUPE_RESTATE_INGRESS;
  const troupe = newServices(openDb(":memory:"), { dataDir: null, env });
  troupe.roles.seed(builtinRoles);
  await troupe.toolSources.start();
  for (const role of file.roles) troupe.roles.put(role);
  // The file's own roles take precedence over those of the same name that come with Troupe.
  const own = new Set(file.roles.map((role) => role.name));
  const roles = [...file.roles, ...troupe.roles.all().filter((role) => !own.has(role.name))];
  if (!command.capabilities) return await runGraph(command, stdio, troupe, { ...file, roles });
  const asked = capabilitiesOf(withLibrary(file.graph, troupe.library), roles);
  await troupe.toolSources.stop();
  if (command.json) stdio.out(asLine(asked.map((one) => ({ ...one }))));
  else stdio.out(`${capabilityLines(asked, file.graph).map(printableLine).join("\n")}\n`);
  return 0;
}

interface WorkflowFile {
  graph: WorkflowGraph;
  name: string;
  roles: readonly RoleDefinition[];
}

/** The file's workflow; prints what of it was changed or dropped. */
async function readFile(command: Command, stdio: Stdio): Promise<WorkflowFile> {
  const read = await readWorkflowAt(command.file);
  const { graph, name, roles, findings } = foreign(
    { ...(read.imported ?? nothingImported()), findings: read.findings },
    command,
  );
  const notable = findings.filter(({ level }) => level !== "info");
  if (!graph)
    throw new UnusableError(
      [`${command.file} is not a workflow file that Troupe can read:`, ...findings.map(findingLine)],
      { findings: findings.map((finding) => ({ ...finding })) },
    );
  if (!command.quiet) for (const finding of notable) stdio.err(`${printableLine(findingLine(finding))}\n`);
  return { graph, name, roles };
}

/** Runs a workflow and prints its result; returns the exit code. */
async function runGraph(
  command: Command,
  stdio: Stdio,
  troupe: Services,
  { graph, name, roles }: WorkflowFile,
): Promise<number> {
  const { quiet, input, config } = command;
  const nowhere = unknownStop(graph, { ...graph.config, ...config });
  if (nowhere !== null) throw new UnusableError([nowhere]);
  const ready = checked(command, () =>
    readyToRun(graph, roles, { input, config, secrets: troupe.secrets.knownTo(null) }, troupe.models),
  );
  if (!quiet) for (const line of unknownInputs(graph, input)) stdio.err(`${printableLine(line)}\n`);

  const { run_id } = troupe.host.start({
    ...ready,
    workflow_id: null,
    workflow_name: name || graph.graph_id,
    trigger: "cli",
    origin: { kind: "cli", trusted: true },
    installation: troupe.installation,
  });
  const progress = watchRun(quiet ? SILENT : stdio.screen);
  const letGo = cancelOnSignal(() =>
    troupe.host.cancel(run_id, { by: "user", reason: "Cancelled in the terminal" }),
  );
  const terminal = { print: stdio.err, ask: stdio.ask };
  const isAsked = stdio.isInteractive && !quiet;
  const answering = newAnswering({
    steering: troupe.host.steering,
    run_id,
    how: command.yes ? "yes" : isAsked ? "ask" : "no",
    terminal,
    goOn: newStepping(troupe, run_id, terminal),
  });
  await follow(troupe, run_id, progress, answering);
  progress.done();
  await troupe.host.drain(0);
  await troupe.toolSources.stop();
  letGo();

  const { state } = progress;
  stdio.out(asLine(command.json ? resultOf(run_id, state) : (state.run.output ?? {})));
  return EXIT[state.run.final_status ?? "ERROR"];
}

type Services = ReturnType<typeof newServices>;

/** A line for each input that the workflow doesn't ask for: a misspelled one would leave a default in place. */
function unknownInputs(graph: WorkflowGraph, input: JsonObject): string[] {
  const known = new Set([
    ...inputFields(graph).map(({ key }) => key),
    ...Object.keys(stateProperties(graph)),
  ]);
  return Object.keys(input)
    .filter((key) => !known.has(key))
    .map((key) => `The workflow has no input "${key}". Its inputs: ${[...known].join(", ") || "none"}.`);
}

async function follow(
  troupe: Services,
  runId: string,
  progress: Progress,
  answering: ReturnType<typeof newAnswering>,
): Promise<void> {
  for await (const frame of troupe.host.follow(runId, 0)) {
    if (frame.kind === "events") {
      progress.events(frame.events);
      answering.events(frame.events);
    } else if (frame.kind === "live") for (const delta of frame.frames) progress.live(delta);
    if (frame.kind === "end" || progress.state.run.status === "finished") return;
  }
}

/** Ctrl+C cancels the run and lets it end; a second one exits at once. Returns a function that releases the signals. */
function cancelOnSignal(cancel: () => void): () => void {
  let asked = false;
  const onSignal = () => {
    if (asked) process.exit(EXIT.CANCELLED);
    asked = true;
    cancel();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

function checked<T>(command: Command, ready: () => T): T {
  try {
    return ready();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const details = error.details as StartErrors;
    if ("errors" in details)
      throw new UnusableError(
        [
          "Invalid input:",
          ...details.errors.map(({ key, message }) => `  ${key}: ${message}`),
          '  Pass it as --input \'{"key": "value"}\'.',
        ],
        {
          errors: details.errors.map((each) => ({ ...each })),
        },
      );
    throw new UnusableError([`${command.file} can't run yet:`, ...details.problems.map(problemLine)], {
      problems: details.problems.map(({ code, message, at }) => ({ code, message, at: { ...at } })),
    });
  }
}

function problemLine({ at, message, code }: Problem): string {
  const place =
    at.kind === "workflow" ? "workflow" : `${at.kind} ${at.id ?? ""}${at.field ? `, ${at.field}` : ""}`;
  return `  ✗ ${place}: ${message} (${code})`;
}

/** Everything about the run, for machines. */
function resultOf(run_id: string, { run, state, totals, nodes }: RunState) {
  return {
    run_id,
    workflow: run.workflow_name,
    final_status: run.final_status ?? null,
    reason_code: run.reason_code ?? null,
    error: run.error ?? null,
    output: run.output ?? {},
    state,
    warnings: run.warnings,
    simulated: run.simulated,
    usage: totals.usage,
    cost_usd: knownCost(totals),
    unknown_cost_calls: totals.unknown_cost_calls,
    duration_ms: run.started_at && run.finished_at ? run.finished_at - run.started_at : null,
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([id, { status, count }]) => [id, { status, count }]),
    ),
  };
}

const asLine = (value: unknown) => `${printableJson(value)}\n`;

const newServerTerminal = ({ out, err }: Stdio): ServerTerminal => ({
  send: askOwnServer,
  env: process.env,
  print: (line) => out(`${printable(line)}\n`),
  log: (line) => err(`${printableLine(line)}\n`),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

const SILENT: Screen = { write() {}, colours: false };
