import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isGranted, type ToolOutput, type ToolSpec } from "@/server/domain/tool/tool";
import type { MemoryPlace } from "@/server/store/library/memories/memories";
import { memoryPlace } from "./builtin/memory";
import type { ToolScope } from "./define";
import type { ToolsRegistry } from "./registry";
import type { CallsStep, ProgramWithCalls } from "./sandbox/sandbox";
import { isTooLong, textOf, truncateOutput } from "./truncate";

/** The tools that runs may call. They may be remote, so everything is asynchronous and called inside steps of a run. */
export interface ToolHost {
  specs(): Promise<ToolSpec[]>;
  /** Why a role may not use a tool any more that it was given, as things are now; null where it may. */
  withdrawn?(role: string, tool: string): Promise<string | null>;
  /** Calls a tool. Nothing is thrown. A long output is cut, and the whole is kept as an artifact. */
  invoke(name: string, args: JsonObject, scope: ToolScope): Promise<ToolOutput>;
  /** Forgets what the caller remembered for its task, which has ended. */
  forgetTask(caller: Pick<ToolScope, "run" | "agent">): Promise<void>;
  /**
   * Releases what tools keep for the caller between calls: its task has ended. Not recorded, and safe to call twice.
   */
  endTask?(caller: Pick<ToolScope, "run" | "agent">): void;
  /** Runs code until the next call that it makes and that has no answer yet, or to its end. Null: code is off here. */
  runCode(program: ProgramWithCalls, signal: AbortSignal, runId: string): Promise<CallsStep | null>;
  /** Null where the pattern matches the text, else why not; never on this thread. */
  matches(pattern: string, text: string, signal: AbortSignal): Promise<string | null>;
}

/** `tainted`: it may contain untrusted content. */
type Keep = (
  runId: string,
  callKey: string,
  about: { tool: string; tainted: boolean },
  text: string,
) => string | Promise<string>;

export function newToolHost(parts: {
  registry: ToolsRegistry;
  /** Keeps a whole output; answers its artifact id. */
  keep: Keep;
  /** Forgets all that is remembered at one place. */
  forget(place: MemoryPlace): void;
  /** The current role; undefined if it was deleted. */
  role?(name: string): { tools: readonly string[] } | undefined;
  matches: ToolHost["matches"];
  runCode: ToolHost["runCode"];
  /** Removes the secrets in memory from a result, before it is cut or kept. */
  redact?: <T>(value: T) => T;
}): ToolHost {
  const { registry } = parts;
  return {
    specs: async () => registry.list(),
    ...(parts.role
      ? {
          async withdrawn(role: string, tool: string) {
            const now = must(parts, "role")(role);
            if (now && isGranted(now.tools, tool)) return null;
            return now
              ? `The role "${role}" has lost the permission to use ${tool}.`
              : `The role "${role}" was removed, and with it the permission to use ${tool}.`;
          },
        }
      : {}),
    async invoke(name, args, scope) {
      const answered = await registry.invoke(name, args, scope);
      const result = parts.redact?.(answered) ?? answered;
      if (result.status_code !== 200) return result;
      const taints = result.tainted ?? registry.get(name)?.spec.taints ?? true;
      return await cut(result, scope, { tool: name, tainted: taints || scope.tainted !== false }, parts.keep);
    },
    async forgetTask(caller) {
      const place = memoryPlace("task", caller);
      if (place) parts.forget(place);
    },
    endTask: (caller) => registry.endTask(caller),
    runCode: parts.runCode,
    matches: parts.matches,
  };
}

async function cut(
  result: ToolOutput,
  scope: ToolScope,
  about: Parameters<Keep>[2],
  keep: Keep,
): Promise<ToolOutput> {
  if (!isTooLong(result.output)) return result;
  const artifact_id =
    result.artifact_id ??
    (scope.run ? await keep(scope.run.id, scope.idempotencyKey, about, textOf(result.output)) : undefined);
  const output: Json = truncateOutput(result.output, { artifact_id });
  return { ...result, output, ...defined({ artifact_id: artifact_id || undefined }) };
}
