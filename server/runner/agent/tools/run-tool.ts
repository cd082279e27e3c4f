import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { type ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { readableIssues, schemaOf } from "@/server/tools/define";
import type { Caller, RunTool, RunToolResult } from "../task";

/**
 * A tool executed by the run itself (for crews, for asking a person, for ending a task), not a registered one: its
 * arguments are strictly validated against `input`.
 */
export function defineRunTool<S extends z.ZodObject>(declaration: {
  name: string;
  description: string;
  input: S;
  read_only?: boolean;
  call(input: z.output<S>, caller: Caller, key: string): Flow<RunToolResult>;
}): RunTool {
  const { name, description, input, read_only, call } = declaration;
  const strict = input.strict();
  return {
    spec: ToolSpec.parse({
      name,
      description,
      input_schema: schemaOf(strict),
      source: "crew",
      risk: "LOW",
      read_only: read_only ?? false,
    }),
    check(args) {
      const read = strict.safeParse(args);
      return read.success
        ? { ok: true, input: read.data }
        : { ok: false, errors: readableIssues(read.error) };
    },
    // Read once more: the way from `check` to here knows no type.
    call: (value, caller, key) => call(input.parse(value), caller, key),
  };
}

/** For tools that need nothing from outside. */
export const done = (output: ToolOutput["output"]): RunToolResult => ({
  status_code: 200,
  ...defined({ output }),
});
export const rejected = (status_code: ToolOutput["status_code"], error: string): RunToolResult => ({
  status_code,
  error,
});
