import {
  resourcesOf,
  type ToolCall,
  type ToolOutput,
  type ToolProtocol,
  type ToolSpec,
} from "@/server/domain/tool/tool";
import type { AskedCall } from "../node/tool-call";
import type { Agent } from "./agent";
import type { AgentEnd } from "./task";

/** One call of a message, on its way through the pipeline. */
export interface Job {
  /** Unique in the run: the events' call_id. */
  id: string;
  key: string;
  call: ToolCall;
  spec: ToolSpec | undefined;
  /** 0 for the first call of its message. */
  at: number;
  resources: readonly string[];
  by_call: string;
  protocol: ToolProtocol;
}

export interface CallOutcome {
  output: ToolOutput;
  ends?: AgentEnd;
}

export function newJob(
  agent: Agent,
  call: ToolCall,
  at: number,
  about: { by_call: string; protocol: ToolProtocol; turn: number },
): Job {
  const key = `${agent.path}/turn${about.turn}/tool${at + 1}`;
  const { activationId, attempt } = agent.run;
  const spec = agent.tool(call.tool_name);
  return {
    id: `${activationId}/${attempt}/${key}`,
    key,
    call,
    spec,
    at,
    resources: spec ? resourcesOf(spec, call.args) : [],
    by_call: about.by_call,
    protocol: about.protocol,
  };
}

/** What cannot be undone runs alone; what shares a resource runs in order. */
export function inConflict(job: Job, other: Job): boolean {
  return (
    !!job.spec?.destructive ||
    !!other.spec?.destructive ||
    job.resources.some((resource) => other.resources.includes(resource))
  );
}

/** A call as a person may have to agree to it. */
export function asking(agent: Agent, { call }: Job, spec: ToolSpec): AskedCall {
  return {
    about: agent.about,
    title: `${agent.role.name} wants to use ${spec.name}`,
    role: agent.role,
    spec,
    args: call.args,
    taint_sources: [...agent.taintSources],
  };
}
