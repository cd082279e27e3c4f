import { z } from "zod";
import { ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import { sentScope } from "@/server/tools/at-workers";
import type { ToolInterface, ToolScope } from "@/server/tools/define";
import { newToolHost, type ToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";
import { CallsStep } from "@/server/tools/sandbox/sandbox";
import { type ControlClient, ControlRejected } from "./control-client";

/** Longer than any tool may take. */
const TOOL_MS = 30 * 60_000;

const Specs = z.array(ToolSpec);
const Withdrawn = z.string().nullable();
const CodeStep = CallsStep.nullable();

/**
 * The tools of an installation as a worker has them: those at home with workers are called right here, all others at the
 * server. While the server is away a call waits for it; the step's idempotency key makes it happen once.
 */
export function newRemoteTools(
  control: Pick<ControlClient, "ask" | "insist">,
  tools: readonly ToolInterface[],
): ToolHost {
  const registry = new ToolsRegistry();
  for (const tool of tools) if (tool.home === "worker") registry.register(tool);
  const here = newToolHost({
    registry,
    keep: async (run_id, key, { tool, tainted }, text) =>
      String(await control.insist("tools/keep", { run_id, key, tool, tainted, text })),
    forget: () => {},
    matches: matchesSafely,
    runCode: () => Promise.resolve(null),
  });
  return {
    specs: async () => Specs.parse(await control.insist("tools/specs", {})),
    withdrawn: async (role, tool) => Withdrawn.parse(await control.insist("tools/withdrawn", { role, tool })),
    async invoke(name, args, scope) {
      if (registry.get(name)) return here.invoke(name, args, scope);
      const { signal } = scope;
      try {
        const about = { name, args, scope: sentScope(scope) };
        return ToolOutput.parse(await control.insist("tools/invoke", about, { signal, withinMs: TOOL_MS }));
      } catch (error) {
        if (signal.aborted) return { status_code: 408, error: `${name} was stopped.` };
        if (!(error instanceof ControlRejected)) throw error;
        return {
          status_code: error.status === 413 ? 413 : 503,
          error: `${name} could not be called: ${error.message}`,
        };
      }
    },
    async forgetTask(caller) {
      await control.insist("tools/forget", callerOf(caller));
    },
    endTask(caller) {
      registry.endTask(caller);
      // Told in vain is harmless: what is kept for a task is no more than a convenience.
      control.ask("tools/end-task", callerOf(caller)).catch(() => {});
    },
    runCode: async (program, signal, run_id) =>
      CodeStep.parse(
        await control.insist("tools/run-code", { program, run_id }, { signal, withinMs: TOOL_MS }),
      ),
    matches: here.matches,
  };
}

const callerOf = ({ run, agent }: Pick<ToolScope, "run" | "agent">) => ({ run, agent });
