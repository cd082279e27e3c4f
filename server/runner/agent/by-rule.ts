import type { RoleRule } from "@/server/domain/agent/role";
import { answerOf } from "@/server/domain/agent/role-rule";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isObject, isText } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";
import type { OutputShape } from "@/server/llm/tool-calls/structured-output";
import type { Agent } from "./agent";
import { checkGuardrails } from "./guardrails";

/** The answer of an agent whose role has a rule: no model, no tools, no cost. Throws NodeFailure. */
export function* answerByRule(agent: Agent, rule: RoleRule, shape: OutputShape): Flow<JsonObject> {
  const { run, task, role } = agent;
  for (const message of task.history ?? []) agent.addMessage(message, "handoff");
  const message = task.message ?? task.task;
  agent.addMessage({ role: "user", content: message }, "rule");
  // A separate turn: many rules in one crew would block the thread.
  yield* run.pause(`${agent.path}/rule`, 0);
  const { goal, earlier } = task;
  const board = run.s.crews[run.activationId]?.board;
  const answer = answerOf(rule, {
    message,
    input: {
      ...defined({ goal, results: earlier, board: board && { ...board } }),
      ...(task.inputs ?? run.input),
    },
    state: run.state,
    now: run.now,
  });
  if ("error" in answer) throw failed(`The rule of ${role.name} failed: ${answer.error}`);
  const { value } = answer;
  agent.addMessage({ role: "assistant", content: isText(value) ? value : JSON.stringify(value) }, "rule");
  const { output, errors } = shaped(value, shape, agent);
  const payload = { ok: errors.length === 0, errors, repair: "none", attempt: 1 } as const;
  run.emit({ type: "output_parsed", ...agent.about, payload });
  if (errors.length > 0) throw failed(`The rule of ${role.name} returned an invalid answer: ${errors[0]}`);
  const guardrailError = yield* checkGuardrails(agent, "output", output, `${agent.path}/rule`);
  if (guardrailError !== null)
    throw new NodeFailure("GUARDRAIL", `The rule of ${role.name} failed a guardrail: ${guardrailError}`, {
      user_action: "edit_graph",
    });
  return output;
}

/** Like a model's answer that doesn't match, but another attempt would be the same. */
const failed = (message: string) => new NodeFailure("OUTPUT_INVALID", message, { user_action: "edit_graph" });

/** A value as the output of a task, or why it doesn't match. Where text is expected, any value keeps its type. */
function shaped(value: Json, shape: OutputShape, { task }: Agent): { output: JsonObject; errors: string[] } {
  if (shape.kind === "text") {
    const { key } = shape;
    const named = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    return { output: { [key]: named ?? value }, errors: [] };
  }
  const { whole, schema } = shape;
  const errors = errorTexts(readSchema(schema).errors(value));
  if (errors.length === 0) errors.push(...(task.check?.(value) ?? []));
  if (whole !== undefined) return { output: { [whole]: value }, errors };
  if (isObject(value)) return { output: value, errors };
  return { output: {}, errors: ["The answer is not an object.", ...errors] };
}
