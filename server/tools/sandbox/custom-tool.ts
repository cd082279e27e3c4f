import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import type { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { type ToolOutput, ToolSpec, type ToolStatus } from "@/server/domain/tool/tool";
import type { ToolInterface } from "../define";
import { checkBySchema } from "../schema-check";
import { runInSandbox, SANDBOX_LIMITS, type SandboxErrorCode, type SandboxResult } from "./sandbox";

/** What a person reads where code is not to run here. */
export const CODE_IS_OFF =
  "Running code is turned off. The admin can turn it on: set TROUPE_ENABLE_CODE=1 and restart.";

export interface CustomToolOptions {
  /** TROUPE_ENABLE_CODE. */
  isEnabled: boolean;
  version?: number;
}

/** Time that the pipeline allows a call in addition to its computation: queueing and startup. */
const AROUND_MS = SANDBOX_LIMITS.startMs + 30_000;

/** A tool written in the app. Its code computes only: it changes nothing and sends nothing anywhere. */
export function customTool(definition: CustomToolDefinition, options: CustomToolOptions): ToolInterface {
  const { name, description, input_schema, output_schema, risk, timeout_ms, code } = definition;
  const spec = ToolSpec.parse({
    name,
    description,
    input_schema,
    output_schema,
    source: "custom",
    risk,
    read_only: true,
    idempotent: true,
    timeout_ms: timeout_ms + AROUND_MS,
    ...defined({ version: options.version, unavailable: options.isEnabled ? undefined : CODE_IS_OFF }),
  });
  return {
    spec,
    check: (args) => checkBySchema(input_schema, args),
    async execute(input, { signal, run }) {
      if (!options.isEnabled) return { status_code: 503, error: CODE_IS_OFF };
      const result = await runInSandbox(
        { code, input: Json.parse(input), timeout_ms },
        { signal, owner: run?.id ?? "" },
      );
      if (!result.ok) return failureOf(name, result);
      const value = result.value ?? null;
      const checked = output_schema ? checkBySchema(output_schema, value) : null;
      if (checked && !checked.ok)
        return {
          status_code: 500,
          error: `${name} returned a result that does not match its output schema: ${checked.errors.join("; ")}`,
        };
      return { output: value, status_code: 200 };
    },
  };
}

const STATUS: Partial<Record<SandboxErrorCode, ToolStatus>> = {
  TIMEOUT: 408,
  NEVER_ENDS: 408,
  CANCELLED: 408,
  TOO_LARGE: 413,
  BUSY: 429,
};

/** A failed program as the output of a call, with what it logged last. */
export function failureOf(name: string, { error, logs }: SandboxResult): ToolOutput {
  const tail = logs.slice(-10).join("\n").slice(-2000);
  return {
    status_code: (error && STATUS[error.code]) ?? 500,
    error: `${name}: ${error?.message ?? "failed"}${tail ? `\nLogs:\n${tail}` : ""}`,
  };
}
