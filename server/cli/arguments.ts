import { readFileSync } from "node:fs";
import path from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { z } from "zod";
import { CheckedBreakpoint } from "@/server/domain/agent/breakpoint/breakpoint-check";
import { type RunConfig, RunConfigChanges } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { issueTexts } from "@/server/domain/base/issues/issue-text";
import { namedError } from "@/server/domain/base/named-error";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { calledFrom, callOf } from "./called";

export const USAGE = `Runs a workflow file and prints its output.

  ${callOf("run")} FILE [--input JSON] [options]
  ${callOf("run")} test FILE        Run the tests in a workflow file. See test --help.
  ${callOf("run")} import PATH      Preview and convert files from another framework. See import --help.
  ${callOf("run")} deploy FILE --to URL  Publish a workflow file on another server. See deploy --help.
  ${callOf("run")} engine           Show where a running server executes runs, and its health.
  ${callOf("run")} COMMAND RUN      Control a run on a running server. See COMMAND --help.
  ${callOf("explain")} CODE        Explain an error code: cause and fix.

Commands: fork, replay, bisect, pause, resume, step, set, remove, skip, retry, next, instruct, signal, team, cancel.

  --input JSON    Values for the start node, such as '{"user_request": "..."}'; @FILE reads a file
  --config JSON   Run limits, such as '{"max_steps": 50, "budget": {"max_cost_usd": 1}}', or @FILE
  --capabilities  List what the workflow would use (tools, hosts, models, programs, memory) without running it
  --json          Print one JSON object with status, state, usage and cost instead of the output
  --quiet         Hide progress
  --step          Pause before each node, to inspect or edit the state in the terminal
  --stop-at NODE  Run to this node and pause before it once
  --break NODE    Pause before this node; NODE:CONDITION only if true, such as 'inc:state.n == 2'; repeatable
  --yes           Approve tool calls and approvals instead of asking in the terminal
  --speed N       Speed of the offline demo model; 0 answers immediately
  --help          Show this help

FILE is a workflow from Troupe, OpenHands or another supported framework: a file, a folder, a zip archive, or - for
standard input. Progress goes to standard error, the result to standard output.
Without OPENAI_API_KEY or OPENAI_BASE_URL, the offline demo model answers: scripted, not an AI.
Exit code: 0 completed, 1 error, 2 invalid file or arguments, 3 limit reached, 130 cancelled.
`;

export interface Command {
  file: string;
  input: JsonObject;
  config: Partial<RunConfig>;
  /** Only says what the workflow would use. */
  capabilities: boolean;
  json: boolean;
  quiet: boolean;
  yes: boolean;
  speed: number | null;
}

/** A command line that cannot be used, in words. */
export class UsageError extends namedError("UsageError") {}

/** Reads the command line; null asks for help. Throws UsageError. */
export function readCommand(argv: readonly string[]): Command | null {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  if (values.help) return null;
  const [file, ...more] = positionals;
  if (file === undefined) throw new UsageError("Missing workflow file.");
  if (more.length > 0) throw new UsageError(`Unexpected argument "${more[0]}". Pass one file.`);
  const config = objectOf("--config", values.config ?? "{}");
  const checked = RunConfigChanges.safeParse(config);
  if (!checked.success) throw new UsageError(`--config: ${issueTexts(checked.error).join("; ")}`);
  const speed = values.speed === undefined ? null : Number(values.speed);
  if (speed !== null && !(speed >= 0 && speed <= 100))
    throw new UsageError("--speed must be a number from 0 to 100.");
  return {
    file,
    input: objectOf("--input", values.input ?? "{}"),
    // Only what was given: the rest keeps coming from the workflow's own config, not from defaults.
    config: { ...checked.data, ...stopsOf(values) },
    capabilities: values.capabilities ?? false,
    json: values.json ?? false,
    quiet: values.quiet ?? false,
    yes: values.yes ?? false,
    speed,
  };
}

/** Where the run is to stop for the person at the terminal. */
function stopsOf({
  step,
  break: places = [],
  "stop-at": stop_at,
}: {
  step?: boolean;
  break?: string[];
  "stop-at"?: string;
}): Partial<RunConfig> {
  const breakpoints = places.map((place) => {
    const [node_id = "", ...condition] = place.split(":");
    const read = CheckedBreakpoint.safeParse({
      on: "node_start",
      node_id: node_id.trim(),
      ...defined({ condition: condition.length > 0 ? condition.join(":").trim() : undefined }),
    });
    if (!read.success) throw new UsageError(`--break ${place}: ${issueTexts(read.error).join("; ")}`);
    return read.data;
  });
  return {
    ...defined({
      mode: step ? ("step" as const) : undefined,
      breakpoints: breakpoints.length > 0 ? breakpoints : undefined,
      stop_at,
    }),
  };
}

const OPTIONS = {
  input: { type: "string", short: "i" },
  config: { type: "string", short: "c" },
  capabilities: { type: "boolean" },
  json: { type: "boolean" },
  quiet: { type: "boolean", short: "q" },
  yes: { type: "boolean", short: "y" },
  speed: { type: "string" },
  step: { type: "boolean" },
  break: { type: "string", multiple: true },
  "stop-at": { type: "string" },
} as const;

const HELP = { help: { type: "boolean", short: "h" } } as const;

/** What stands on a command line, by these options and `--help`. Throws UsageError where it has others. */
export function parseOptions<const O extends NonNullable<ParseArgsConfig["options"]>>(
  argv: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: { ...options, ...HELP } });
  } catch (error) {
    // The first sentence says which one; the others are about names that begin with a dash.
    throw new UsageError(errorMessage(error).split(". ")[0] ?? "");
  }
}

/** Reads JSON as it stands on the command line, or from a file: `@FILE`. Throws UsageError. */
function objectOf(option: string, given: string): JsonObject {
  const text = given.startsWith("@") ? textOfFile(option, given.slice(1)) : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not valid JSON: ${errorMessage(error)}.`);
  }
  const read = z.record(z.string(), Json).safeParse(value);
  if (!read.success)
    throw new UsageError(`${option} must be a JSON object, such as {"user_request": "..."}.`);
  return read.data;
}

function textOfFile(option: string, file: string): string {
  try {
    return readFileSync(path.resolve(calledFrom(), file), "utf8");
  } catch (error) {
    const code = errorCode(error);
    throw new UsageError(
      code === "ENOENT"
        ? `${option}: file not found: ${file}.`
        : `${option}: can't read ${file} (${code ?? errorMessage(error)}).`,
    );
  }
}
