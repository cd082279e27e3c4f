import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import type { ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import type { Reused } from "@/server/runner/node/ports";
import type { Agent } from "../agent";
import type { CallOutcome, Job } from "../job";
import { callableBy } from "./callable-tools";

/** The `nth` call of a program, from 1, as a separate job. */
export function callOfProgram(
  agent: Agent,
  job: Job,
  nth: number,
  { tool, args }: NonNullable<ToolOutput["needs"]>,
): Job {
  return {
    ...job,
    call: { id: `${job.call.id}.${nth}`, tool_name: tool, args },
    at: 0,
    key: `${job.key}/call${nth}`,
    id: `${job.id}/call${nth}`,
    spec: agent.tool(tool),
  };
}

/**
 * Makes the calls of a program whose process waits for them, each like a call of the agent, and continues it with their
 * results. `output`: of the program's beginning.
 */
export function* followCalls(
  agent: Agent,
  job: Job,
  { spec, output: beginning }: { spec: ToolSpec; output: ToolOutput & Reused },
  executeOne: (agent: Agent, job: Job) => Flow<CallOutcome>,
): Flow<ToolOutput> {
  const callable = callableBy(agent, spec) ?? [];
  const { reused } = beginning;
  let step: ToolOutput = beginning;
  for (let nth = 1; step.needs; nth++) {
    const { needs } = step;
    // The process is a program's, which may ask for anything.
    const output = callable.some(({ name }) => name === needs.tool)
      ? (yield* executeOne(agent, callOfProgram(agent, job, nth, needs))).output
      : { status_code: 403 as const, error: `Programs can't call ${needs.tool}.` };
    step = yield* agent.run.callTool(job.key, {
      name: spec.name,
      args: job.call.args,
      agent,
      spec,
      called: { nth, output, ...defined({ reused }) },
    });
  }
  return step;
}
