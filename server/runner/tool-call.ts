import type { Flow } from "@/server/domain/durable";
import type { Payloads } from "@/server/domain/events";
import type { ToolOutput, ToolSpec } from "@/server/domain/tool";
import type { JsonObject } from "@/server/domain/values";
import { confirmationReason } from "@/server/tools/policy";
import type { NodeRun } from "./node-run";

type About = { agent_id: string; task_id?: string };
type Started = Payloads["tool_call_started"];

/** What a person is asked about: a call that nobody has agreed to yet. */
export interface AskedCall extends Omit<Parameters<typeof confirmationReason>[0], "approved_always"> {
  about: About;
  title: string;
}

/** Asks a person to agree to a call where that is needed, and waits. Answers what they said; null: nobody had to be asked. */
export function* askPerson(
  run: NodeRun,
  key: string,
  { about, title, ...call }: AskedCall,
): Flow<Payloads["interaction_answered"] | null> {
  const { spec, args, taint_sources } = call;
  const why = confirmationReason({ ...call, approved_always: run.isApproved(spec.name) });
  if (why === null) return null;
  return yield* run.ask(key, {
    about,
    kind: "tool_confirmation",
    title,
    why,
    tool_name: spec.name,
    args,
    risk: spec.risk,
    taint_sources: [...taint_sources],
  });
}

export interface CallToRecord extends Omit<Started, "tool_name" | "risk"> {
  about: About;
  /** Unique in the run. */
  call_id: string;
  spec: ToolSpec;
  args: JsonObject;
}

/** Carries out a call, with an event before and one after; gives back what `carryOut` gave. */
export function* recordCall<T extends { output: ToolOutput }>(
  run: NodeRun,
  { about, call_id, spec, ...call }: CallToRecord,
  carryOut: () => Flow<T>,
): Flow<T> {
  const tool_name = spec.name;
  run.emit({
    type: "tool_call_started",
    ...about,
    call_id,
    payload: { tool_name, ...call, risk: spec.risk },
  });
  const begun = run.now;
  const done = yield* carryOut();
  run.emit({
    type: "tool_call_completed",
    ...about,
    call_id,
    payload: { tool_name, ...done.output, latency_ms: Math.max(0, run.now - begun) },
  });
  return done;
}
