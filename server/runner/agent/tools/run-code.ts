import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isObject, isText } from "@/server/domain/base/guards";
import { isSince } from "@/server/domain/run/edition";
import type { ToolOutput } from "@/server/domain/tool/tool";
import { CODE_IS_OFF, failureOf } from "@/server/tools/sandbox/custom-tool";
import { RUN_JAVASCRIPT } from "@/server/tools/sandbox/run-javascript";
import type { RecordedCall } from "@/server/tools/sandbox/sandbox";
import type { Agent } from "../agent";
import type { CallOutcome, Job } from "../job";
import { callOfProgram } from "./program-calls";

/**
 * Runs an agent's code. Its calls go through the same pipeline as the agent's own calls, each with its events; after
 * every answer the code runs again from its beginning.
 */
export function* runAgentsCode(
  agent: Agent,
  job: Job,
  executeOne: (agent: Agent, job: Job) => Flow<CallOutcome>,
): Flow<ToolOutput> {
  const { run } = agent;
  const { code, input } = job.call.args;
  if (!isText(code)) return { status_code: 400, error: "The code must be a string." };
  const at = run.now;
  const tools = agent.toolNames.filter((name) => name !== RUN_JAVASCRIPT && !agent.crewTools.has(name));
  const results: RecordedCall[] = [];
  for (;;) {
    const step = yield* run.runCode(`${job.key}/code${results.length}`, {
      code,
      tools,
      results,
      at,
      kept: agent.variables,
      ...defined({ input }),
    });
    if (step === null) return { status_code: 503, error: CODE_IS_OFF };
    if ("done" in step) {
      const { done } = step;
      if (!done.ok) {
        const failure = failureOf(RUN_JAVASCRIPT, done);
        const advice = isSince(run.s.run, 5) ? lostVariable(agent, done.error?.message ?? "") : null;
        return advice === null ? failure : { ...failure, error: `${failure.error} ${advice}` };
      }
      const { values = {}, lost = [] } = done.variables ?? {};
      agent.variables = values;
      const variables = Object.keys(values);
      return {
        status_code: 200,
        output: {
          result: done.value ?? null,
          logs: done.logs,
          ...defined({
            variables: variables.length > 0 ? variables : undefined,
            lost: lost.length > 0 ? lost : undefined,
          }),
        },
      };
    }
    const { tool, args } = step.needs;
    const inner = callOfProgram(agent, job, results.length + 1, { tool, args: isObject(args) ? args : {} });
    const { output } = yield* executeOne(agent, inner);
    results.push({ tool, args, output });
  }
}

/** How to keep the variable that a program misses, if an earlier one declared it; null for any other error. */
function lostVariable(agent: Agent, error: string): string | null {
  const name = /^ReferenceError: '?([\w$]+)'? is not defined/.exec(error)?.[1];
  if (name === undefined) return null;
  for (const step of agent.steps) {
    if (step.kind !== "action" || step.tool_name !== RUN_JAVASCRIPT || !isText(step.args.code)) continue;
    for (const [, keyword, declared = ""] of step.args.code.matchAll(/\b(const|let|var)\s([^=;]{1,200})/g))
      if (declared.split(/[^\w$]+/).includes(name))
        return `An earlier program declared ${name} with ${keyword}, and it ended with that program. Assign it without ${keyword} (${name} = ...) to keep it.`;
  }
  return null;
}
