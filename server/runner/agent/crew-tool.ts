import type { z } from "zod";
import type { Flow } from "@/server/domain/base/durable";
import { type ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { readableIssues, schemaOf } from "@/server/tools/define";
import type { Agent, AgentEnd } from "./agent";

/** What a crew tool gives: an output like every tool's, and perhaps the end of the agent's work. */
export type CrewToolResult = ToolOutput & { ends?: AgentEnd };

/** A tool that the run itself carries out: it changes the run by events, or lets other agents work. */
export interface CrewTool {
  readonly spec: ToolSpec;
  check(args: unknown): { ok: true; input: unknown } | { ok: false; errors: string[] };
  /** `key`: a part for keys of steps, unique in the node's attempt. */
  call(input: unknown, caller: Agent, key: string): Flow<CrewToolResult>;
}

export function defineCrewTool<S extends z.ZodObject>(declaration: {
  name: string;
  description: string;
  input: S;
  read_only?: boolean;
  call(input: z.output<S>, caller: Agent, key: string): Flow<CrewToolResult>;
}): CrewTool {
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
    call: (value, caller, key) => call(value as z.output<S>, caller, key),
  };
}

/** For tools that need nothing from outside. */
export const done = (output: ToolOutput["output"]): CrewToolResult => ({
  status_code: 200,
  ...(output === undefined ? {} : { output }),
});
export const refused = (status_code: ToolOutput["status_code"], error: string): CrewToolResult => ({
  status_code,
  error,
});
