import { z } from "zod";
import { propertiesOf } from "@/server/domain/base/json-schema";
import { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";

/** How a call ended, in the numbers of HTTP: 200 done, 4xx the caller's fault, 5xx the tool's. */
export const ToolStatus = z.union([
  z.literal(200),
  z.literal(400),
  z.literal(403),
  z.literal(404),
  z.literal(408),
  z.literal(409),
  z.literal(413),
  z.literal(429),
  z.literal(500),
  z.literal(503),
]);
export type ToolStatus = z.infer<typeof ToolStatus>;

/** What each status of a call says. */
export const TOOL_STATUSES: Record<ToolStatus, string> = {
  200: "Done",
  400: "Invalid arguments",
  403: "Not permitted",
  404: "Not found",
  408: "Timed out",
  409: "Conflict",
  413: "Too large",
  429: "Too many calls",
  500: "Tool failed",
  503: "Not available",
};

/** What a tool needs from a person while it works: fields of a form, or that they go somewhere in their browser. */
export const ToolQuestion = z.object({
  /** Who asks, such as a server's name. */
  from: z.string(),
  /** The message of the tool that asks. */
  message: z.string(),
  /** What the fields may hold, as a JSON Schema: an object of plain values. */
  schema: z.record(z.string(), Json).exactOptional(),
  url: z.string().exactOptional(),
});
export type ToolQuestion = z.infer<typeof ToolQuestion>;

/** What a person answered. decline: they refused; cancel: no answer came. */
export interface ToolAnswer {
  question: ToolQuestion;
  action: "accept" | "decline" | "cancel";
  content?: JsonObject;
}

/** A call that a program of the tool makes, and for whose result it waits. */
export const ToolCallNeeded = z.object({ tool: z.string().max(200), args: JsonObject });

/** A tool that a program may call, with the names of its arguments in order. */
export const CallableTool = z.object({ name: z.string(), parameters: z.array(z.string()) });
export type CallableTool = z.infer<typeof CallableTool>;

/** What every call of a tool gives, whatever the tool: a result or an error, never both. */
export const ToolOutput = z.object({
  output: Json.exactOptional(),
  error: z.string().exactOptional(),
  status_code: ToolStatus,
  /** The whole result, where `output` was cut for the model. */
  artifact_id: z.string().exactOptional(),
  /** Whether this result is untrusted content, if that differs from the tool's declaration. */
  tainted: z.boolean().exactOptional(),
  /** Made up by the offline demo. */
  simulated: z.boolean().exactOptional(),
  /** Not executed: its permission had been revoked. */
  withdrawn: z.boolean().exactOptional(),
  /** It stopped to ask a question; called again with the answer, it continues. */
  asks: ToolQuestion.exactOptional(),
  /** It stopped to have another tool called; with that tool's result, it continues. */
  needs: ToolCallNeeded.exactOptional(),
});
export type ToolOutput = z.infer<typeof ToolOutput>;

/** How much harm a call can do. UNKNOWN: not declared. */
export const RiskLevel = z.enum(["LOW", "MEDIUM", "HIGH", "UNKNOWN"]);
export type RiskLevel = z.infer<typeof RiskLevel>;

/** What each risk is called, and what it means for a call. */
export const RISK_LEVELS: Record<RiskLevel, { title: string; sentence: string }> = {
  LOW: { title: "Low risk", sentence: "Can do little harm" },
  MEDIUM: { title: "Medium risk", sentence: "Can do some harm" },
  HIGH: { title: "High risk", sentence: "Asks a person before each call, by default" },
  UNKNOWN: { title: "Unknown risk", sentence: "Asks a person before each call, by default" },
};

/** What becomes of a call that was in flight when its process ended, so that it may have happened. */
export const OnCrash = z.enum(["repeat", "ask", "fail"]);
export type OnCrash = z.infer<typeof OnCrash>;

/** The same for people. */
export const ON_CRASH: Record<OnCrash, { title: string; sentence: string }> = {
  repeat: {
    title: "Repeat call",
    sentence: "Uses the same idempotency key; the run warns of a possible duplicate",
  },
  ask: { title: "Ask a person", sentence: "Repeats only after approval" },
  fail: { title: "Fail", sentence: "Fails with an error that says the call may have happened" },
};

export const ToolSource = z.enum(["builtin", "crew", "custom", "operator", "mcp"]);
export type ToolSource = z.infer<typeof ToolSource>;

/**
 * What is known about a tool without calling it. `source` "crew": executed by the run itself and granted by the crew's
 * process, such as handoff; all others only by `RoleDefinition.tools`.
 */
export const ToolSpec = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(4000),
  /** An object at the root. */
  input_schema: JsonSchema,
  output_schema: JsonSchema.optional(),
  source: ToolSource,
  risk: RiskLevel,
  /** Changes nothing. */
  read_only: z.boolean().default(false),
  /** Doing it twice is the same as once. */
  idempotent: z.boolean().default(false),
  /** Cannot be undone. */
  destructive: z.boolean().default(false),
  /** Absent: `ask` at high risk, else `repeat`. */
  on_crash: OnCrash.optional(),
  /** Its results are untrusted content: the web, files, other people's servers, memory. */
  taints: z.boolean().default(false),
  /** It can carry data out of this installation. */
  sink: z.boolean().default(false),
  /**
   * How it sends data, by argument names: `places` say where something is sent to or fetched from, `words` are sent to
   * a service that the installation names. Absent: derived from the names and schemas of the arguments.
   */
  ways_out: z
    .object({ places: z.array(z.string()).optional(), words: z.array(z.string()).optional() })
    .optional(),
  /**
   * Calls with a resource in common never run at the same time. Names of arguments in braces stand for their values:
   * "file:{path}".
   */
  resources: z.array(z.string().max(200)).optional(),
  timeout_ms: z.number().int().positive().default(60_000),
  /** It runs programs, which can call the caller's other tools. */
  runs_programs: z.boolean().optional(),
  /** Why it cannot be called now, with what to do about it; absent: it can. */
  unavailable: z.string().optional(),
  /** Counts the changes of a custom tool. */
  version: z.number().int().optional(),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** What becomes of a call that may have happened before its process ended; null where repeating it does no harm. */
export function onCrashOf({ on_crash, read_only, idempotent, risk }: ToolSpec): OnCrash | null {
  const chosen = on_crash ?? (risk === "HIGH" && !idempotent ? "ask" : "repeat");
  return read_only || (idempotent && chosen === "repeat") ? null : chosen;
}

/** What a call must not share with another at the same time, by what its tool says; the same for the same arguments. */
export function resourcesOf({ resources = [], input_schema }: ToolSpec, args: JsonObject): string[] {
  const properties = propertiesOf(input_schema);
  return resources.map((rule) =>
    rule.replace(/\{(\w+)\}/g, (_braces, name: string) => {
      const value = Object.hasOwn(args, name) ? args[name] : properties[name]?.default;
      return typeof value === "string" ? value : JSON.stringify(value ?? null);
    }),
  );
}

/** One call as a model asked for it. `id` pairs it with its result. */
export const ToolCall = z.object({
  id: z.string(),
  tool_name: z.string(),
  args: z.record(z.string(), Json),
  /** The text wasn't JSON and was repaired: the call runs only if it matches the schema and changes nothing. */
  repaired: z.boolean().optional(),
  /** It cannot be read as a call; the sentence goes back to the model and nothing is executed. */
  fault: z.string().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** How tools are offered to a model: by its interface for functions, or by lines of text. */
export const ToolProtocol = z.enum(["native", "text"]);
export type ToolProtocol = z.infer<typeof ToolProtocol>;

/** Labels of the tool protocols. */
export const TOOL_PROTOCOLS: Record<ToolProtocol, string> = { native: "As functions", text: "As text" };

/** Why an agent does without a tool that its role names, if nothing offers one of that name. */
export const NO_SUCH_TOOL = "There is no such tool here.";

/** Whether a list of tool names, as roles have it, grants this tool. `mcp:server/*` grants all of one server. */
export function isGranted(tools: readonly string[], name: string): boolean {
  return tools.some(
    (granted) =>
      granted === name ||
      (granted.endsWith("/*") && granted.startsWith("mcp:") && name.startsWith(granted.slice(0, -1))),
  );
}

export function succeeded(output: ToolOutput): boolean {
  return output.status_code === 200;
}
