import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import { defineTool, type ToolInterface } from "../define";
import { CODE_IS_OFF, failureOf } from "./custom-tool";
import { runInSandbox, SANDBOX_LIMITS } from "./sandbox";

export const RUN_JAVASCRIPT = "run_javascript";

const Program = z.object({
  code: z
    .string()
    .min(1)
    .max(SANDBOX_LIMITS.codeBytes)
    .describe("The body of an async function, for example: return input.items.length;"),
  input: Json.optional().describe("Data for the code, as JSON"),
});

/**
 * The tool of the code interpreter: a program in the sandbox, its result and its logs. In a run, the agent's code may
 * call the agent's other tools; server/runner/agent/tools/tool-calls.ts carries that out. Tried out by a person, it calls
 * none.
 */
export function runJavascript({
  isEnabled,
}: {
  /** TROUPE_ENABLE_CODE. */ isEnabled: boolean;
}): ToolInterface {
  const tool = defineTool({
    name: RUN_JAVASCRIPT,
    description: [
      "Runs JavaScript and gives its result. `code` is the body of an async function: `return` the result, as JSON.",
      "`input` holds the second argument; what console.log writes comes back as logs.",
      `\`await call("tool_name", { ... })\` calls another tool of yours, at most ${SANDBOX_LIMITS.calls} times; the code runs again from its beginning after each call.`,
      "What you assign without const, let or var (x = 5) is there in your next program of this task, as JSON; a program that fails changes none of it.",
      "There are no files, no network, no modules and no timers.",
    ].join(" "),
    input: Program,
    output_schema: {
      type: "object",
      properties: {
        result: {},
        logs: { type: "array", items: { type: "string" } },
        variables: {
          type: "array",
          items: { type: "string" },
          description: "Names that are there next time",
        },
        lost: {
          type: "array",
          items: { type: "string" },
          description: "Names that are not, since they hold no JSON, or too much of it",
        },
      },
      required: ["result", "logs"],
    },
    source: "builtin",
    // Calls made by the code are checked one by one.
    risk: "LOW",
    read_only: true,
    idempotent: true,
    // An agent's programs run one after another; each continues with the variables of the previous one.
    resources: ["variables"],
    ...defined({ unavailable: isEnabled ? undefined : CODE_IS_OFF }),
    execute: () => null,
  });
  return {
    ...tool,
    async execute(value, { signal, run }) {
      if (!isEnabled) return { status_code: 503, error: CODE_IS_OFF };
      const { code, input } = Program.parse(value);
      const result = await runInSandbox({ code, ...defined({ input }) }, { signal, owner: run?.id ?? "" });
      return result.ok
        ? { output: { result: result.value ?? null, logs: result.logs }, status_code: 200 }
        : failureOf(RUN_JAVASCRIPT, result);
    },
  };
}
