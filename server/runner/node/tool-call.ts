import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import type { JsonObject } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { onCrashOf, succeeded, type ToolOutput, type ToolSpec } from "@/server/domain/tool/tool";
import { confirmationReason, unvouchedPlaces } from "@/server/tools/policy";
import type { About, ToolRuntime } from "./ports";

type Started = Payloads["tool_call_started"];

/** A call that a person may have to agree to. */
export interface AskedCall
  extends Omit<Parameters<typeof confirmationReason>[0], "approved_always" | "unvouched" | "policies"> {
  about: About;
  title: string;
  /** Of the agent that makes it; absent for a node's own call. */
  role?: RoleDefinition;
}

type Question = NonNullable<Payloads["interaction_requested"]["calls"]>[number];
type Answer = Payloads["interaction_answered"];

/** Whether a call's result is untrusted content; the call's own label takes precedence over its tool's. */
export const taints = (spec: ToolSpec, output: ToolOutput): boolean =>
  output.tainted ?? (succeeded(output) && spec.taints);

/** What a person must agree to about a call, or null. */
export function questionOf(
  run: ToolRuntime,
  { about: _, title: _title, role, ...call }: AskedCall,
): Question | null {
  const { spec, args, taint_sources } = call;
  const mayLeave = spec.sink && taint_sources.length > 0;
  const destinations = mayLeave ? unvouchedPlaces(call, run.judging(taint_sources, role)) : [];
  const why = confirmationReason({
    ...call,
    policies: run.policies(role),
    unvouched: destinations,
    approved_always: run.isApproved(spec.name),
  });
  if (why === null) return null;
  return {
    tool_name: spec.name,
    args,
    risk: spec.risk,
    why,
    ...defined({ destinations: destinations.length > 0 ? destinations : undefined }),
  };
}

/** Asks a person to approve a call if necessary, and waits. Returns their answer; null: no approval was necessary. */
export function* askForApproval(run: ToolRuntime, key: string, call: AskedCall): Flow<Answer | null> {
  const question = questionOf(run, call);
  if (question === null) return null;
  const { about, title, taint_sources } = call;
  return yield* run.ask(key, {
    about,
    kind: "tool_confirmation",
    title,
    ...question,
    taint_sources: [...taint_sources],
  });
}

/** Asks about several calls in one question. Answers what was said of each. */
export function* askTogether(
  run: ToolRuntime,
  key: string,
  { about, title, taint_sources }: Pick<AskedCall, "about" | "title" | "taint_sources">,
  calls: readonly Question[],
): Flow<Answer[]> {
  const answer = yield* run.ask(key, {
    about,
    kind: "tool_confirmation",
    title,
    why: "One step makes all of these calls. Each was checked individually.",
    calls: [...calls],
    taint_sources: [...taint_sources],
  });
  const { calls: agreed } = answer;
  return calls.map((_call, at) =>
    agreed && !agreed.includes(at) && answer.answer !== "expired" ? { ...answer, answer: "reject" } : answer,
  );
}

export interface CallToRecord extends Omit<Started, "tool_name" | "risk" | "on_crash"> {
  about: About;
  /** Unique in the run. */
  call_id: string;
  spec: ToolSpec;
  args: JsonObject;
}

/** Carries out a call, with an event before and one after; gives back what `carryOut` gave. */
export function* recordCall<T extends { output: ToolOutput }>(
  run: ToolRuntime,
  { about, call_id, spec, ...call }: CallToRecord,
  execute: () => Flow<T>,
): Flow<T> {
  const tool_name = spec.name;
  yield* run.arrive({ point: "tool_call", ...about, tool: tool_name, hasEffect: !spec.read_only });
  run.reached();
  const on_crash = isSince(run.s.run, 3) && spec.source !== "crew" && onCrashOf(spec);
  run.emit({
    type: "tool_call_started",
    ...about,
    call_id,
    payload: { tool_name, ...call, risk: spec.risk, ...defined({ on_crash: on_crash || undefined }) },
  });
  const begun = run.now;
  const done = yield* execute();
  const { status_code, withdrawn, error = "" } = done.output;
  if (withdrawn) {
    const { by_call, tool_call_id } = call;
    run.emit({
      type: "tool_call_refused",
      ...about,
      call_id,
      payload: {
        tool_name,
        args: call.args,
        status_code,
        reason: error,
        ...defined({ by_call, tool_call_id }),
      },
    });
    return done;
  }
  run.emit({
    type: "tool_call_completed",
    ...about,
    call_id,
    payload: { tool_name, ...done.output, latency_ms: Math.max(0, run.now - begun) },
  });
  return done;
}
