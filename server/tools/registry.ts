import { errorMessage, textsOf } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import { SECRET_TOOLS } from "@/server/domain/tool/secret";
import type { ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { ToolFailure, type ToolInterface, type ToolScope } from "./define";
import { takesNoSecrets } from "./secrets";

/** The tools of this installation by name. Permission is not asked here: that is server/tools/policy.ts. */
export class ToolsRegistry {
  private readonly tools = new Map<string, ToolInterface>();

  /** Throws where the name is taken. */
  register(tool: ToolInterface): void {
    if (this.tools.has(tool.spec.name)) throw new Error(`There is already a tool named "${tool.spec.name}".`);
    this.tools.set(tool.spec.name, tool);
  }
  unregister(name: string): boolean {
    return this.tools.delete(name);
  }
  /** Takes in tools that come and go: those of before that are gone leave, the others are as they are now. */
  replace(before: readonly string[], tools: readonly ToolInterface[]): string[] {
    for (const name of before) this.tools.delete(name);
    for (const tool of tools) this.register(tool);
    return tools.map(({ spec }) => spec.name);
  }
  get(name: string): ToolInterface | undefined {
    return this.tools.get(name);
  }
  /** Sorted by name. */
  list(): ToolSpec[] {
    return [...this.tools.values()]
      .map(({ spec }) => spec)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** Tells every tool that the caller has ended its task. */
  endTask(caller: Pick<ToolScope, "run" | "agent">): void {
    for (const tool of this.tools.values()) tool.endTask?.(caller);
  }

  /** Checks the arguments, executes, and gives an output in every case: nothing is thrown. */
  async invoke(name: string, args: unknown, scope: ToolScope): Promise<ToolOutput> {
    const tool = this.tools.get(name);
    if (!tool) return { status_code: 404, error: unknownTool(name, [...this.tools.keys()]) };
    if (tool.spec.unavailable) return { status_code: 503, error: tool.spec.unavailable };
    if (scope.secrets?.length && !SECRET_TOOLS.includes(name))
      return { status_code: 400, error: takesNoSecrets(name) };
    const checked = tool.check(args);
    if (!checked.ok) return { status_code: 400, error: invalidArguments(tool.spec, checked.errors) };
    const timeout = AbortSignal.timeout(tool.spec.timeout_ms);
    const signal = AbortSignal.any([scope.signal, timeout]);
    try {
      const output = await Promise.race([
        tool.execute(checked.input, { ...scope, signal }),
        // A tool that does not listen to its signal must not hold up the run.
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
        }),
      ]);
      // Other people's programs say in their own words why they failed; built-in tools throw, and say it in ours.
      const isTheirs = tool.spec.taints && output.status_code !== 200;
      return isTheirs ? { tainted: true, ...output } : output;
    } catch (error) {
      if (scope.signal.aborted) return { status_code: 408, error: `${name} was stopped.` };
      if (timeout.aborted)
        return {
          status_code: 408,
          error: `${name} did not finish within ${Math.round(tool.spec.timeout_ms / 1000)} s`,
        };
      if (error instanceof ToolFailure) return { status_code: error.status_code, error: error.message };
      return {
        status_code: 500,
        error: `${name} failed: ${errorMessage(error)}`,
      };
    }
  }
}

/** The message to a model that called a tool by a wrong name. */
export function unknownTool(name: string, known: readonly string[]): string {
  const near = known.find((other) => distance(other.toLowerCase(), name.toLowerCase()) <= 2);
  const hint = near ? ` Did you mean "${near}"?` : "";
  return `There is no tool named "${name}".${hint} Available: ${known.length > 0 ? known.join(", ") : "none"}.`;
}

export function invalidArguments(spec: ToolSpec, errors: readonly string[]): string {
  const required = textsOf(spec.input_schema.required);
  const needs = required.length > 0 ? ` Required: ${required.join(", ")}.` : "";
  return `Invalid arguments for ${spec.name}: ${errors.join("; ")}.${needs}`;
}

/** Levenshtein's distance between two short words. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(must(row, j) + 1, must(next, j - 1) + 1, must(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return must(row, b.length);
}
