import type { Flow } from "@/server/domain/base/durable";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import type { SecretUse } from "@/server/domain/tool/secret";
import { isGranted, succeeded } from "@/server/domain/tool/tool";
import type { ToolRuntime } from "./ports";
import { askForApproval, recordCall, taints } from "./tool-call";

const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 503]);

/**
 * Calls a tool for a node that is the call itself: the author of the workflow chose the tool, so no role has to grant
 * it. Denial, approval and taint work as for agents.
 */
export function* callToolOfNode(
  run: ToolRuntime,
  name: string,
  args: JsonObject,
  secrets: readonly SecretUse[] = [],
): Flow<Json> {
  const { specs } = yield* run.toolSpecs("node", [name]);
  const spec = specs.find((one) => one.name === name);
  if (!spec) throw new NodeFailure("CONFIG", `There is no tool "${name}" here.`);
  const { config } = run;
  if (isGranted(config.denied_tools, name))
    throw new NodeFailure("PERMISSION", `${name} is denied for this run.`);
  if (spec.unavailable) throw new NodeFailure("CONFIG", spec.unavailable, { user_action: "settings" });
  const about = { agent_id: run.node.id };
  const taint_sources = [...run.s.taint_sources];
  const answer = yield* askForApproval(run, "tool", {
    about,
    title: `${run.node.name || run.node.id} is about to use ${name}`,
    spec,
    args,
    taint_sources,
  });
  if (answer?.answer === "expired")
    throw new NodeFailure("HUMAN_TIMEOUT", `No one approved ${name} in time.`, { user_action: "retry" });
  if (answer?.answer === "reject")
    throw new NodeFailure(
      "HUMAN_REJECTED",
      `A person rejected ${name}${answer.message ? `: ${answer.message}` : "."}`,
    );
  const call = { about, call_id: `${run.activationId}/${run.attempt}/call`, spec, args };
  const { output } = yield* recordCall(run, { ...call, protocol: "native" }, function* () {
    return { output: yield* run.callTool("call", { name, args, secrets, agent: null, spec }) };
  });
  // The error message may be untrusted content too.
  if (taints(spec, output)) run.emit({ type: "agent_tainted", ...about, payload: { tool_name: name } });
  if (!succeeded(output))
    throw new NodeFailure("TOOL_FAILED", output.error ?? `${name} failed.`, {
      retryable: RETRYABLE.has(output.status_code),
      user_action: "retry",
      detail: { status_code: output.status_code },
    });
  run.noteEffects(about, { name, args }, output);
  return output.output ?? null;
}
