import { z } from "zod";
import { parseJson } from "@/server/domain/base/json";
import { asSchema } from "@/server/domain/base/json-schema";
import { namedError } from "@/server/domain/base/named-error";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { SecretUse } from "@/server/domain/tool/secret";
import {
  type CallableTool,
  type ToolAnswer,
  type ToolOutput,
  ToolSpec,
  type ToolStatus,
} from "@/server/domain/tool/tool";

/** What a tool may know and use while it works. */
export interface ToolScope {
  readonly signal: AbortSignal;
  /** The same for every attempt at this call, also after a crash: pass it on to what has effects outside. */
  readonly idempotencyKey: string;
  /** The key that this call has in the run from which the run's lineage comes; absent where the run is no fork and no replay. */
  readonly originalKey?: string;
  /** How often the same call was made before and failed; absent: never. */
  readonly again?: number;
  /** A person's answers to what this call asked before; absent if nobody can be asked. */
  readonly answers?: readonly ToolAnswer[];
  /** The tools that its program may call. */
  readonly callable?: readonly CallableTool[];
  /** The result of the `nth` call (from 1) that its program made, with which this call continues the program. */
  readonly called?: { nth: number; output: ToolOutput };
  /**
   * The run has read untrusted content, so what this call stores is untrusted too. Absent: unknown, so it counts as
   * true.
   */
  readonly tainted?: boolean;
  /** The arguments that use secrets, and which. A tool that supports secrets fills them in when it sends them. */
  readonly secrets?: readonly SecretUse[];
  /** The run that calls; null where a person tries the tool out. */
  readonly run: { id: string; workflow_id: string | null } | null;
  /** The caller. `task_id`: the plan's task, if any. */
  readonly agent: {
    agent_id: string;
    role_name: string;
    node_id: string;
    task_id?: string;
    /** Scopes of memory that it may use; all, where absent. */
    memory_scopes?: readonly string[];
  } | null;
}

/**
 * Where a tool executes when workers execute runs: on the server, whose database, connections and switches it needs, or
 * on the worker.
 */
export type ToolHome = "control" | "worker";

/** Anything that agents can call. Implement it by `defineTool`, or directly where the schema is only known at run time. */
export interface ToolInterface {
  readonly spec: ToolSpec;
  /** Absent: control. */
  readonly home?: ToolHome;
  /** Checks and completes arguments; gives them as `execute` takes them, or what is wrong, place first. */
  check(args: unknown): { ok: true; input: unknown } | { ok: false; errors: string[] };
  execute(input: unknown, scope: ToolScope): Promise<ToolOutput>;
  /** The caller's task has ended: state kept for it between calls can be released. Not recorded. */
  endTask?(caller: Pick<ToolScope, "run" | "agent">): void;
}

/** Expected trouble inside a tool: becomes an output with that status. */
export class ToolFailure extends namedError("ToolFailure") {
  constructor(
    readonly status_code: ToolStatus,
    message: string,
  ) {
    super(message);
  }
}

export interface ToolDeclaration<S extends z.ZodObject>
  extends Omit<z.input<typeof ToolSpec>, "input_schema"> {
  input: S;
  home?: ToolHome;
  /** Gives the result. Throw ToolFailure for expected trouble. */
  execute(input: z.output<S>, scope: ToolScope): Promise<Json | Labelled> | Json | Labelled;
}

/** A result that carries its own trust label, whatever `taints` says of the tool. */
export class Labelled {
  constructor(
    readonly output: Json,
    readonly tainted: boolean,
  ) {}
}

/** A tool from its zod schema and one function. */
export function defineTool<S extends z.ZodObject>(declaration: ToolDeclaration<S>): ToolInterface {
  const { input, execute, home = "control", ...rest } = declaration;
  const strict = input.strict();
  const spec = ToolSpec.parse({ ...rest, input_schema: schemaOf(strict) });
  return {
    spec,
    home,
    check(args) {
      const read = strict.safeParse(args);
      return read.success
        ? { ok: true, input: read.data }
        : { ok: false, errors: readableIssues(read.error) };
    },
    async execute(value, scope) {
      // Read once more: the way from `check` to here knows no type.
      const result = await execute(input.parse(value), scope);
      return result instanceof Labelled
        ? { output: result.output, tainted: result.tainted, status_code: 200 }
        : { output: result, status_code: 200 };
    },
  };
}

/** A zod object as the JSON Schema that models and forms read. */
export function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return asSchema(parseJson(JSON.stringify(json)));
}

/** `path: message` for each issue, without the offending values. */
export function readableIssues(error: z.ZodError): string[] {
  return error.issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
}
