import { z } from "zod";
import { findGuardrailFunction, guardrailFunctions } from "@/server/domain/agent/guardrail-functions";
import { JUDGE } from "@/server/domain/agent/judge";
import { answerPrompt, systemPrompt, taskPrompt } from "@/server/domain/agent/prompt";
import type { Guardrail } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isObject } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import { NodeFailure } from "@/server/domain/nodes";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import { parseOutput } from "@/server/llm/tool-calls/structured-output";
import type { Agent } from "./agent";
import { callModel } from "./call-model";
import { taskIdOf } from "./prompt/prompt-edition";

const VERDICT: JsonSchema = {
  type: "object",
  properties: {
    ok: { type: "boolean", description: "Whether the rule holds" },
    reason: {
      type: "string",
      description: "The deciding evidence; if the rule does not hold, what would have to change",
    },
  },
  required: ["ok", "reason"],
  additionalProperties: false,
};
const Verdict = z.object({ ok: z.boolean(), reason: z.string() });
/** How much of a value a pattern is matched against; characters. */
const MAX_MATCHED = 20_000;

/**
 * Checks a value against the guardrails of one kind. Returns the error to send to the model if it has to try again, null
 * if none. Throws if a guardrail ends the task.
 */
export function* checkGuardrails(
  agent: Agent,
  target: Guardrail["target"],
  value: JsonObject,
  key: string,
): Flow<string | null> {
  const rules = agent.guardrails.filter((rule) => rule.target === target);
  const work = new Work();
  for (const [at, rule] of rules.entries()) {
    const error = yield* check(agent, rule, { value, key: `${key}/guard${at}`, work });
    const tries = agent.guardTries.get(rule) ?? 0;
    const mayRetry = rule.on_fail === "retry" && tries < rule.max_retries;
    const action =
      error === null ? "none" : rule.on_fail === "retry" ? (mayRetry ? "retry" : "fail") : rule.on_fail;
    agent.run.emit({
      type: "guardrail_checked",
      ...agent.about,
      payload: {
        name: rule.name,
        target,
        ok: error === null,
        action,
        ...defined({ reason: error || undefined }),
      },
    });
    if (error === null || action === "warn") continue;
    if (action === "retry") {
      agent.guardTries.set(rule, tries + 1);
      return error;
    }
    if (action === "escalate") {
      const answer = yield* agent.run.ask(`${key}/guard${at}`, {
        about: agent.about,
        kind: "review",
        title: `Guardrail “${rule.name}” failed`,
        why: error,
        args: value,
      });
      if (answer.answer === "approve" || answer.answer === "approve_always") continue;
    }
    throw new NodeFailure("GUARDRAIL", `The guardrail "${rule.name}" failed: ${error}`, {
      user_action: "edit_graph",
    });
  }
  return null;
}

/** Why a guardrail rejects a value; null if it doesn't. */
function* check(
  agent: Agent,
  rule: Guardrail,
  { value, key, work }: { value: JsonObject; key: string; work: Work },
): Flow<string | null> {
  switch (rule.kind) {
    case "expression": {
      const scope = { state: agent.run.state, input: value, output: value, now: agent.run.now };
      const { value: holds, note } = evaluateCondition(rule.spec, scope, work);
      return holds ? null : (note ?? `${rule.spec} is not true.`);
    }
    case "json_schema":
      return schemaError(rule, value);
    case "regex":
      return yield* agent.run.matches(key, rule.spec, textOf(value).slice(0, MAX_MATCHED));
    case "llm_judge":
      return yield* judge(agent, rule, value, key);
    case "registered": {
      const registered = findGuardrailFunction(rule.spec);
      if (registered) return registered.check(value);
      const names = guardrailFunctions().map(({ name }) => name);
      throw new NodeFailure(
        "CONFIG",
        `The guardrail "${rule.name}" uses the check "${rule.spec}", which is not registered. Available: ${names.join(", ")}.`,
        { user_action: "edit_graph" },
      );
    }
  }
}

function schemaError({ spec }: Guardrail, value: JsonObject): string | null {
  let schema: Json;
  try {
    schema = parseJson(spec);
  } catch {
    return "Its JSON Schema can't be read.";
  }
  if (typeof schema !== "boolean" && !isObject(schema)) return "Its JSON Schema can't be read.";
  const errors = readSchema(schema).errors(value);
  return errors.length === 0 ? null : errorTexts(errors).join("; ");
}

function* judge(agent: Agent, { spec }: Guardrail, value: JsonObject, key: string): Flow<string | null> {
  const id = taskIdOf(agent.run, agent.task.agent_id);
  const answer = yield* callModel(agent, {
    name: key,
    purpose: "judge",
    schema: VERDICT,
    messages: [
      { role: "system", content: systemPrompt(JUDGE, { isBefore3: id === undefined }) },
      {
        role: "user",
        content: taskPrompt({
          id,
          task: `Check whether this rule holds for the value:\n${agent.fences.fence("rule", spec)}`,
          inputs: { value: textOf(value) },
          answer: answerPrompt({ schema: VERDICT }),
        }),
      },
    ],
  });
  const verdict = parseOutput(answer.content, VERDICT);
  if (!verdict.ok) return "The judge gave no verdict.";
  const { ok, reason } = Verdict.parse(verdict.value);
  return ok ? null : reason;
}

function textOf(value: JsonObject): string {
  const values: Json[] = Object.values(value);
  const [only] = values;
  return values.length === 1 && typeof only === "string" ? only : JSON.stringify(value);
}
