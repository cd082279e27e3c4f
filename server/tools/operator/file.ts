import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { listOf } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { JsonSchema } from "@/server/domain/base/values";
import { OnCrash, RiskLevel } from "@/server/domain/tool/tool";
import { registerNamedSecrets } from "@/server/secrets/redact";
import { SettingsError } from "@/server/settings";
import { McpToolWord } from "../mcp/annotations";

const Word = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "use letters, digits, _ and - (at most 64)");
const Argument = z.string().max(4000);
const EnvName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "isn't a valid environment variable name")
  .refine((name) => !/^(TROUPE_|APP_SECRET_KEY$)/.test(name), "Troupe's own settings aren't passed on");

/** A whole argument that a value of the call takes the place of: `{{name}}`. */
const PLACE = /^\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/;

/** The word by which workers say that they have what it takes. */
const WorkerLabel = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$/, "isn't a valid worker label, such as gpu");

const common = {
  name: Word,
  /** Carried out only at a worker with this label; absent: at the server. */
  worker_label: WorkerLabel.exactOptional(),
  description: z.string().min(1).max(4000),
  /** JSON Schema of the arguments. */
  input: JsonSchema.refine((schema) => schema.type === "object", "must have type: object").default({
    type: "object",
    properties: {},
    additionalProperties: false,
  }),
  output_schema: JsonSchema.optional(),
  risk: RiskLevel.default("HIGH"),
  read_only: z.boolean().default(false),
  idempotent: z.boolean().default(false),
  destructive: z.boolean().default(false),
  on_crash: OnCrash.optional(),
  taints: z.boolean().default(true),
  timeout_ms: z.number().int().min(100).max(3_600_000).default(60_000),
  memory_mb: z.number().int().min(16).max(65_536).default(512),
  max_output_kb: z.number().int().min(1).max(2_048).default(256),
  /** Names of Troupe's environment variables that the tool gets, in addition to PATH, LANG and TZ. */
  env: z.array(EnvName).max(50).default([]),
  /** Variables with values. */
  set_env: z.record(EnvName, z.string().max(4000)).default({}),
};
const { input: _input, ...withoutInput } = common;
const CODE: JsonSchema = {
  type: "object",
  properties: {
    code: { type: "string", maxLength: 64_000, description: "What to run, as in a cell of a notebook" },
  },
  required: ["code"],
  additionalProperties: false,
};
/** text: what it writes; json: the same, read as JSON; full: exit code, output and errors, also where it fails. */
const Result = z.enum(["text", "json", "full"]);

const Script = z.strictObject({
  type: z.literal("script"),
  ...common,
  /** The program and its arguments, one array item each. */
  command: z.array(Argument).min(1).max(100),
  result: Result.default("text"),
  /** It can carry data out of this installation. */
  sink: z.boolean().default(true),
});
const Python = z.strictObject({
  type: z.enum(["python", "custom"]).transform((): "python" => "python"),
  ...common,
  path: z.string().min(1).max(1000),
  function: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,100}$/, "isn't a valid function name"),
  python: z.string().min(1).max(1000).default("python3"),
  sink: z.boolean().default(true),
});
/** A Python that keeps its variables within a task of an agent; its one argument is the code. */
const PythonSession = z
  .strictObject({
    type: z.literal("python_session"),
    ...withoutInput,
    python: z.string().min(1).max(1000).default("python3"),
    /** After this idle time, the process is ended. */
    idle_ms: z
      .number()
      .int()
      .min(1000)
      .max(3_600_000)
      .default(10 * 60_000),
    sink: z.boolean().default(true),
  })
  .transform((tool) => ({ ...tool, input: CODE }));
const Docker = z.strictObject({
  type: z.literal("docker"),
  ...common,
  image: z.string().regex(/^[a-z0-9][A-Za-z0-9._/:@-]{0,250}$/, "isn't a valid image name"),
  args: z.array(Argument).max(100).default([]),
  cpus: z.number().min(0.1).max(64).default(1),
  network: z.enum(["none", "bridge"]).default("none"),
  result: Result.default("text"),
});

export const OperatorTool = z
  .union([Script, Python, PythonSession, Docker], {
    error: "must have type: script, python, python_session or docker",
  })
  .superRefine((tool, context) => {
    const parts = tool.type === "script" ? tool.command : tool.type === "docker" ? tool.args : [];
    const required = listOf(tool.input.required);
    for (const [at, word] of parts.entries()) {
      const at_path = [tool.type === "script" ? "command" : "args", at];
      const place = word.match(PLACE)?.[1];
      if (place === undefined && word.includes("{{"))
        context.addIssue({
          code: "custom",
          path: at_path,
          message: "a value replaces an entire argument: write {{name}} alone, or read standard input",
        });
      if (place === undefined) continue;
      if (at === 0 && tool.type === "script")
        context.addIssue({ code: "custom", path: at_path, message: "the program itself can't be a value" });
      if (!required.includes(place))
        context.addIssue({
          code: "custom",
          path: at_path,
          message: `"${place}" must be listed in input.required`,
        });
    }
  });
export type OperatorTool = z.infer<typeof OperatorTool>;

const McpServer = z.strictObject({
  name: Word,
  command: Argument.min(1),
  args: z.array(Argument).max(100).default([]),
  env: common.env,
  set_env: common.set_env,
  /** The folder that it works in; the file's own by default. */
  cwd: z.string().max(1000).default("."),
  worker_label: common.worker_label,
});

/** A server that speaks MCP over its standard input and output. */
export interface StdioServer {
  name: string;
  command: string;
  args: string[];
  /** Beside HOME, LOGNAME, PATH, SHELL, TERM and USER. */
  environment: Record<string, string>;
  cwd: string;
  /** It is a process of a worker with this label; absent: of the server. */
  worker_label?: string;
}

const ToolsFile = z.strictObject({
  /** A server's own word is believed only where it warns. */
  mcp_tools: z
    .record(
      z.string().regex(/^mcp:[^/]+\/.+$/, "isn't a valid MCP tool name, such as mcp:server/tool"),
      McpToolWord,
    )
    .default({}),
  tools: z.array(z.unknown()).max(500).default([]),
  mcp_servers: z.array(McpServer).max(100).default([]),
});

export interface OperatorFile {
  tools: OperatorTool[];
  mcp_servers: StdioServer[];
  /** By full names: `mcp:server/tool`. */
  mcp_tools: Readonly<Record<string, McpToolWord>>;
  /** Absolute; paths in the file begin here. */
  folder: string;
}

export const NO_OPERATOR_FILE: OperatorFile = { tools: [], mcp_servers: [], mcp_tools: {}, folder: "" };

/** Reads the operator's file. Throws SettingsError with every place that is wrong. */
export function readOperatorFile(file: string, env: NodeJS.ProcessEnv = process.env): OperatorFile {
  const whole = path.resolve(/* turbopackIgnore: true */ file);
  let text: string;
  try {
    text = readFileSync(whole, "utf8");
  } catch (error) {
    throw new SettingsError(
      `TROUPE_TOOLS_FILE: can't read ${file} (${error instanceof Error && "code" in error ? String(error.code) : "unknown error"}).`,
    );
  }
  return parseOperatorFile(text, { file, folder: path.dirname(whole), env });
}

/** The same from its text. `file`: the name for messages. */
export function parseOperatorFile(
  text: string,
  { file, folder, env = process.env }: { file: string; folder: string; env?: NodeJS.ProcessEnv },
): OperatorFile {
  const refuse = (problems: string[]) =>
    new SettingsError(
      `TROUPE_TOOLS_FILE: ${file} is invalid:\n${problems.map((line) => `  ${line}`).join("\n")}`,
    );
  let data: unknown;
  try {
    data = parse(text, { maxAliasCount: 100 });
    const deep = jsonTextProblem(JSON.stringify(data ?? null));
    if (deep) throw new Error(deep);
  } catch (error) {
    throw refuse([error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)]);
  }
  const read = ToolsFile.safeParse(data ?? {});
  if (!read.success) throw refuse(issues(read.error));
  const problems: string[] = [];
  const tools: OperatorTool[] = [];
  for (const [at, raw] of read.data.tools.entries()) {
    const tool = readTool(raw);
    if (tool.success) tools.push(tool.data);
    else problems.push(...issues(tool.error, `tools[${at}]`));
  }
  problems.push(...twice("tools", tools), ...twice("mcp_servers", read.data.mcp_servers));
  if (problems.length > 0) throw refuse(problems);
  for (const { set_env } of [...tools, ...read.data.mcp_servers]) registerNamedSecrets(set_env);
  const mcp_servers = read.data.mcp_servers.map(
    ({ name, command, args, env: names, set_env, cwd, worker_label }) => ({
      name,
      command: resolveProgram(command, folder),
      args,
      environment: { ...chosen(names, env), ...set_env },
      cwd: path.resolve(/* turbopackIgnore: true */ folder, cwd),
      ...defined({ worker_label }),
    }),
  );
  return { tools, mcp_servers, mcp_tools: read.data.mcp_tools, folder };
}

/** By the type it names, so that what is wrong is said of that type alone. */
function readTool(raw: unknown) {
  const type = raw !== null && typeof raw === "object" && "type" in raw ? raw.type : undefined;
  const kind =
    type === "script"
      ? Script
      : type === "docker"
        ? Docker
        : type === "python" || type === "custom"
          ? Python
          : type === "python_session"
            ? PythonSession
            : null;
  const first = kind?.safeParse(raw);
  return first && !first.success ? first : OperatorTool.safeParse(raw);
}

const issues = (error: z.ZodError, before = "") =>
  error.issues.map(({ path: at, message }) => {
    const place = at.reduce<string>(
      (so_far, step) =>
        typeof step === "number" ? `${so_far}[${step}]` : so_far ? `${so_far}.${String(step)}` : String(step),
      before,
    );
    return place ? `${place}: ${message}` : message;
  });

function twice(list: string, named: readonly { name: string }[]): string[] {
  const names = named.map(({ name }) => name);
  const repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...repeated].map((name) => `${list}: duplicate "${name}"`);
}

/** A path is meant from the file's folder; a bare name is looked up in PATH. */
export const resolveProgram = (program: string, folder: string) =>
  program.includes("/") || program.includes("\\")
    ? path.resolve(/* turbopackIgnore: true */ folder, program)
    : program;

/** The variables with these names, as far as they are set. */
export function chosen(names: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The arguments with their placeholders replaced. Text is used unchanged; anything else becomes JSON. */
export function filledIn(argv: readonly string[], values: Record<string, unknown>): string[] {
  return argv.map((word) => {
    const place = word.match(PLACE)?.[1];
    if (place === undefined) return word;
    const value = Object.hasOwn(values, place) ? values[place] : null;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
