import { z } from "zod";
import type { ToolOutput } from "@/server/domain/tool";
import { Json } from "@/server/domain/values";
import { defineTool, type ToolInterface, type ToolScope } from "../define";
import { CODE_IS_OFF, failureOf } from "./custom-tool";
import { type RecordedCall, runWithCalls, SANDBOX_LIMITS, type SandboxResult } from "./sandbox";

/** The tools that the calling agent's code may call, and how a call goes through the usual pipeline. */
export interface CodePlugins {
  /** Names that the caller may use at this moment; the tool of code itself is not among them. */
  namesFor(scope: ToolScope): readonly string[];
  /** Carries one call out: permission, checks, confirmation and all. `scope.idempotencyKey` is its own. */
  call(tool: string, args: Json, scope: ToolScope): Promise<ToolOutput>;
}

export interface RunJavascriptOptions {
  /** TROUPE_ENABLE_CODE. */
  isEnabled: boolean;
  /** Left out: code calls nothing. */
  plugins?: CodePlugins;
}

export const RUN_JAVASCRIPT = "run_javascript";

/** The tool of the code interpreter: a program in the sandbox, its result and its logs. */
export function runJavascript({ isEnabled, plugins }: RunJavascriptOptions): ToolInterface {
  const tool = defineTool({
    name: RUN_JAVASCRIPT,
    description: [
      "Runs JavaScript and gives its result. `code` is the body of an async function: `return` the result, as JSON.",
      "`input` holds the second argument; what console.log writes comes back as logs.",
      plugins
        ? `\`await call("tool_name", { ... })\` calls a tool of yours, at most ${SANDBOX_LIMITS.calls} times; the code runs again from its beginning after each call.`
        : "",
      "There are no files, no network, no modules and no timers; each program begins with nothing.",
    ]
      .filter(Boolean)
      .join(" "),
    input: z.object({
      code: z
        .string()
        .min(1)
        .max(SANDBOX_LIMITS.codeBytes)
        .describe("The body of an async function, for example: return input.items.length;"),
      input: Json.optional().describe("Data for the code, as JSON"),
    }),
    output_schema: {
      type: "object",
      properties: { result: {}, logs: { type: "array", items: { type: "string" } } },
      required: ["result", "logs"],
    },
    source: "builtin",
    risk: "LOW",
    read_only: !plugins,
    idempotent: !plugins,
    // Data from other tools flows through the code's calls.
    taints: Boolean(plugins),
    timeout_ms: plugins ? 300_000 : 60_000,
    ...(isEnabled ? {} : { unavailable: CODE_IS_OFF }),
    execute: () => null,
  });
  return {
    ...tool,
    async execute(value, scope) {
      if (!isEnabled) return { status_code: 503, error: CODE_IS_OFF };
      const { code, input } = value as { code: string; input?: Json };
      const result = await toEnd({ code, input }, scope, plugins);
      return result.ok
        ? { output: { result: result.value ?? null, logs: result.logs }, status_code: 200 }
        : failureOf(RUN_JAVASCRIPT, result);
    },
  };
}

/** Runs the code again and again, until all its calls have answers. */
async function toEnd(
  program: { code: string; input?: Json },
  scope: ToolScope,
  plugins: CodePlugins | undefined,
): Promise<SandboxResult> {
  const tools = (plugins?.namesFor(scope) ?? []).filter((name) => name !== RUN_JAVASCRIPT);
  const results: RecordedCall[] = [];
  const at = Date.now();
  for (;;) {
    const step = await runWithCalls({ ...program, tools, results, at }, { signal: scope.signal });
    if ("done" in step) return step.done;
    const { tool, args } = step.needs;
    const output: ToolOutput = plugins
      ? await plugins.call(tool, args, {
          ...scope,
          idempotencyKey: `${scope.idempotencyKey}/${step.index}`,
        })
      : { status_code: 403, error: "This code may call no tools" };
    results.push({ tool, args, output });
  }
}
