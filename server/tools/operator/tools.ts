import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { Json } from "@/server/domain/base/values";
import { type ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { ToolFailure, type ToolInterface, type ToolScope } from "../define";
import { checkBySchema } from "../schema-check";
import { apartFrom } from "./apart";
import { chosen, filledIn, type OperatorFile, type OperatorTool, resolveProgram } from "./file";
import { type ProcessResult, runProcess } from "./process";
import { Sessions } from "./session";

/** What every tool sees of Troupe's environment. */
const ALWAYS = ["PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT"];
/** How the command `docker` finds its server; a container sees none of it. */
const DOCKER = ["DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "XDG_RUNTIME_DIR"];
/** What `docker run` ends with where it could not start anything. */
const DOCKER_FAILED = 125;
const PRLIMIT = "/usr/bin/prlimit";

/** The tools of the operator's file. `env`: Troupe's own environment, of which a tool gets what its entry names. */
export function operatorTools(file: OperatorFile, env: NodeJS.ProcessEnv = process.env): ToolInterface[] {
  return file.tools.map((tool) =>
    tool.type === "python_session"
      ? sessionTool(tool, file.folder, env)
      : operatorTool(tool, file.folder, env),
  );
}

/** Tools that are a process for each call. */
type CalledTool = Exclude<OperatorTool, { type: "python_session" }>;
type SessionTool = Extract<OperatorTool, { type: "python_session" }>;

/** What keeps a session apart from Troupe's processes and data folder; null where nothing does. */
const apartOf = async (python: string, { TROUPE_DATA_DIR }: NodeJS.ProcessEnv) => {
  const folder = path.resolve(/* turbopackIgnore: true */ TROUPE_DATA_DIR || "data");
  return python.startsWith(folder + path.sep) ? null : apartFrom(folder);
};

/** A word after which a program takes code. */
const TAKES_CODE = /^(?:-\w*[ce]|--command|--eval)$/;

/** The tools of a file by which a model's own program could read the keys and the data of Troupe, as a sentence; null: none. */
export async function exposedRemark(
  file: OperatorFile,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | null> {
  const names: string[] = [];
  for (const tool of file.tools) {
    if (tool.worker_label !== undefined) continue;
    const isExposed =
      tool.type === "python_session"
        ? (await apartOf(resolveProgram(tool.python, file.folder), env)) === null
        : tool.type === "script" &&
          tool.command.some(
            (word, at) => word.startsWith("{{") && TAKES_CODE.test(tool.command[at - 1] ?? ""),
          );
    if (isExposed) names.push(tool.name);
  }
  return names.length === 0
    ? null
    : `${names.join(", ")} (TROUPE_TOOLS_FILE): programs written by a model can read Troupe's keys and data there. Use a container to prevent that.`;
}

/** A Python whose variables stay for the next program of the same task. */
function sessionTool(tool: SessionTool, folder: string, env: NodeJS.ProcessEnv): ToolInterface {
  const sessions = new Sessions();
  const python = resolveProgram(tool.python, folder);
  let prefix: ReturnType<typeof apartOf> | undefined;
  const newOrder = async () => ({
    argv: [
      ...((await (prefix ??= apartOf(python, env))) ?? []),
      python,
      "-I",
      "-u",
      path.join(process.cwd(), "server", "tools", "operator", "session.py"),
      String(tool.memory_mb),
    ],
    environment: { ...chosen([...ALWAYS, ...tool.env], env), ...tool.set_env },
    idle_ms: tool.idle_ms,
  });
  return {
    spec: operatorSpec(tool),
    check: (args) => checkBySchema(tool.input, args),
    async execute(input, scope) {
      const code = String(recordOf(input).code);
      // Tried out by a person, it keeps nothing.
      const owner = ownerOf(scope) ?? scope.idempotencyKey;
      const part = {
        program: scope.idempotencyKey,
        timeout_ms: tool.timeout_ms,
        max_output_bytes: tool.max_output_kb * 1024,
        signal: scope.signal,
      };
      try {
        const step = scope.called
          ? await sessions.resume(owner, { ...scope.called, ...part, idle_ms: tool.idle_ms })
          : await sessions.run(owner, await newOrder(), { ...part, code, tools: scope.callable ?? [] });
        if ("call" in step) return { status_code: 200, needs: step.call };
        const { is_first, ok, ...answer } = step;
        if (!ok)
          return { status_code: 500, error: `${tool.name}: ${answer.error ?? ""}\n${answer.output}`.trim() };
        const { output, result = null } = answer;
        return {
          status_code: 200,
          output: { output, result, ...defined({ first: is_first ? NOTHING_YET : undefined }) },
        };
      } finally {
        if (ownerOf(scope) === null) sessions.end(owner);
      }
    },
    endTask(caller) {
      const owner = ownerOf(caller);
      if (owner !== null) sessions.end(owner);
    },
  };
}

const NOTHING_YET = "A new process: nothing from before is defined in it.";

/** Whose variables they are: those of one agent at one task. */
const ownerOf = ({ run, agent }: Pick<ToolScope, "run" | "agent">): string | null =>
  run && agent ? JSON.stringify([run.id, agent.node_id, agent.agent_id, agent.task_id ?? ""]) : null;

/** The spec of a tool in the operator's file, wherever it runs. */
export const operatorSpec = (tool: OperatorTool): ToolSpec =>
  ToolSpec.parse({
    name: tool.name,
    description: tool.description,
    input_schema: tool.input,
    output_schema: tool.output_schema,
    source: "operator",
    risk: tool.risk,
    read_only: tool.read_only,
    idempotent: tool.idempotent,
    destructive: tool.destructive,
    on_crash: tool.on_crash,
    taints: tool.taints,
    // A container without a network can't send data.
    sink: tool.type === "docker" ? tool.network !== "none" : tool.sink,
    // The process has the time; ending it takes a moment more.
    timeout_ms: tool.timeout_ms + 5_000,
    // One program of an agent after another.
    ...(tool.type === "python_session" ? { resources: [`session:${tool.name}`], runs_programs: true } : {}),
  });

function operatorTool(tool: CalledTool, folder: string, env: NodeJS.ProcessEnv): ToolInterface {
  const spec = operatorSpec(tool);
  return {
    spec,
    check: (args) => checkBySchema(tool.input, args),
    async execute(input, scope) {
      const stdin = JSON.stringify(input);
      const { argv: commandLine, onKill } = commandOf(tool, recordOf(input), folder, env);
      const result = await runProcess({
        argv: commandLine,
        stdin,
        environment: {
          ...chosen([...ALWAYS, ...(tool.type === "docker" ? DOCKER : []), ...tool.env], env),
          ...tool.set_env,
          ...callVariables(scope),
        },
        timeout_ms: tool.timeout_ms,
        max_output_bytes: tool.max_output_kb * 1024,
        signal: scope.signal,
        ...defined({ onKill }),
      });
      const output = outputOf(tool, result);
      const checked =
        tool.output_schema && output.status_code === 200
          ? checkBySchema(tool.output_schema, output.output)
          : null;
      return checked && !checked.ok
        ? {
            status_code: 500,
            error: `${tool.name} returned a result that does not match its output schema: ${checked.errors.join("; ")}`,
          }
        : output;
    },
  };
}

/** What lets a program recognise a repeated call. */
const callVariables = ({ idempotencyKey, originalKey = idempotencyKey }: ToolScope) => ({
  TROUPE_IDEMPOTENCY_KEY: idempotencyKey,
  TROUPE_ORIGINAL_IDEMPOTENCY_KEY: originalKey,
});

/** The words of the process, and what ends more than the process. */
export function commandOf(
  tool: CalledTool,
  values: Readonly<Record<string, unknown>>,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): { argv: string[]; onKill?(): void } {
  switch (tool.type) {
    case "script": {
      const [program = "", ...args] = filledIn(tool.command, values);
      const argv = [resolveProgram(program, folder), ...args];
      // Where the system can limit memory without a shell.
      const limit = existsSync(PRLIMIT) ? [PRLIMIT, `--as=${tool.memory_mb * 1024 * 1024}`, "--"] : [];
      return { argv: [...limit, ...argv] };
    }
    case "python":
      return {
        argv: [
          resolveProgram(tool.python, folder),
          "-I",
          path.join(process.cwd(), "server", "tools", "operator", "runner.py"),
          path.resolve(/* turbopackIgnore: true */ folder, tool.path),
          tool.function,
          String(tool.memory_mb),
        ],
      };
    case "docker": {
      const name = `troupe-${randomBytes(8).toString("hex")}`;
      return {
        argv: dockerArguments(tool, values, name),
        onKill: () =>
          void runProcess({
            // Also one that was made and has not started yet.
            argv: ["docker", "rm", "--force", name],
            stdin: "",
            environment: chosen([...ALWAYS, ...DOCKER], env),
            timeout_ms: 10_000,
            max_output_bytes: 64 * 1024,
            signal: new AbortController().signal,
          }).catch(() => {}),
      };
    }
  }
}

/** `docker run` with nothing that was not asked for: no network, no rights, nothing to write on but a small /tmp. */
export function dockerArguments(
  tool: Extract<OperatorTool, { type: "docker" }>,
  values: Record<string, unknown>,
  name: string,
): string[] {
  return [
    "docker",
    "run",
    "--rm",
    "--interactive",
    "--name",
    name,
    "--network",
    tool.network,
    "--read-only",
    "--tmpfs",
    "/tmp:rw,size=64m",
    "--memory",
    `${tool.memory_mb}m`,
    "--memory-swap",
    `${tool.memory_mb}m`,
    "--cpus",
    String(tool.cpus),
    "--pids-limit",
    "256",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    // By name: the values come from the environment of the command and show in no list of processes.
    ...[
      ...tool.env,
      ...Object.keys(tool.set_env),
      "TROUPE_IDEMPOTENCY_KEY",
      "TROUPE_ORIGINAL_IDEMPOTENCY_KEY",
    ].flatMap((word) => ["--env", word]),
    tool.image,
    ...filledIn(tool.args, values),
  ];
}

function outputOf(tool: CalledTool, { exit_code, stdout, stderr }: ProcessResult): ToolOutput {
  const result = tool.type === "python" ? "json" : tool.result;
  if (tool.type === "docker" && exit_code === DOCKER_FAILED)
    throw new ToolFailure(503, `Docker could not start ${tool.image}: ${stderr.trim().slice(-500)}`);
  if (result === "full") return { status_code: 200, output: { exit_code, stdout, stderr } };
  if (exit_code !== 0) {
    const message = (stderr.trim() || stdout.trim()).slice(-2000);
    const how = exit_code === null ? "was ended by the system" : `ended with exit code ${exit_code}`;
    return { status_code: 500, error: `${tool.name} ${how}${message ? `:\n${message}` : ""}` };
  }
  if (result === "text") return { status_code: 200, output: stdout };
  const deep = jsonTextProblem(stdout);
  if (deep) throw new ToolFailure(413, `${tool.name}: ${deep}`);
  try {
    return { status_code: 200, output: Json.parse(JSON.parse(stdout)) };
  } catch {
    return { status_code: 500, error: `${tool.name} did not return JSON: ${stdout.slice(0, 300)}` };
  }
}
