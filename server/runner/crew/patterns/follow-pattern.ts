import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import {
  customPatterns,
  outcomesOf,
  type PatternStep,
  STEP_DESCRIPTIONS,
  type Target,
  targetOf,
} from "@/server/domain/crew/pattern";
import { NodeFailure } from "@/server/domain/nodes";
import type { Crew } from "../crew";
import { relay } from "./relay";

const StepAnswer = z.object({
  outcome: z.string().exactOptional(),
  summary: z.string(),
  /** What the next step works on, if it is more than the summary. */
  result: z.string().nullish(),
});

/**
 * Follows a custom pattern: each step's agent works and gives an outcome, and the pattern says what comes next. Returns
 * the last step's result; throws if a target says that the pattern failed.
 */
export function* followPattern(crew: Crew): Flow<JsonObject> {
  const { config } = crew;
  const [pattern] = customPatterns(config.collaboration_patterns);
  if (!pattern) throw new NodeFailure("CONFIG", `${crew.name} has no pattern to follow. Add its steps.`);
  const steps = pattern.workflow;
  const results = newRecord<Json>();
  let step: PatternStep | undefined = steps[0];
  let came = "";
  let made = "";
  for (let round = 1; step; round++) {
    if (round > config.max_rounds) {
      crew.keep({ ...results, result: made });
      throw new NodeFailure(
        "MAX_ITERATIONS",
        `${crew.name} reached its limit of ${config.max_rounds} steps.`,
        { user_action: "edit_graph" },
      );
    }
    const { agent_id, answer } = yield* executeStep(crew, step, { round, came, earlier: { ...results } });
    const { outcome, summary, result: work } = answer;
    made = work || summary;
    results[step.step] = made;
    const { exit, target } = targetAfter(crew, step, outcome, steps);
    const asked = crew.takeNext();
    const other = asked && steps.findIndex((one) => crew.member(one.agent) === asked);
    if ("end" in target && other === undefined) {
      const { name } = target;
      crew.post({
        from: agent_id,
        to: "User",
        message: exit ? `${name}: ${summary}` : summary,
        kind: "reply",
        ...defined({ outcome: exit && name }),
      });
      if (target.end === "failed")
        throw new NodeFailure("REJECTED", `${crew.name} failed in "${step.step}": ${summary}`, {
          user_action: "edit_graph",
        });
      return crew.outputs({ ...results, outcome: name, summary, result: made });
    }
    const at = other ?? ("step" in target ? target.step : 0);
    const next = must(steps, at);
    const to = crew.member(next.agent)?.agent_id ?? next.agent;
    crew.post({
      from: agent_id,
      to,
      message: `${outcome}: ${summary}`,
      kind: "post",
      ...defined({ outcome }),
    });
    came = `\nThe previous step was "${step.step}" with this outcome:\n${crew.fences.fence("outcome", summary, { is: outcome ?? "" })}`;
    step = next;
  }
  throw new NodeFailure("CONFIG", `${crew.name} has a pattern without steps.`);
}

/** Where an outcome leads. Without an `exit` for it, the pattern ends. */
function targetAfter(
  crew: Crew,
  step: PatternStep,
  outcome: string | undefined,
  steps: readonly PatternStep[],
): {
  exit: ReturnType<typeof outcomesOf>[number] | undefined;
  target: Exclude<Target, { nobody: string }>;
} {
  const exit = outcomesOf(step).find((one) => one.outcome === outcome);
  if (!exit) return { exit, target: { end: "completed", name: outcome ?? "done" } };
  const target = targetOf(exit.target, steps);
  if ("nobody" in target)
    throw new NodeFailure("CONFIG", `${crew.name} can't continue after "${step.step}": ${target.nobody}`, {
      user_action: "edit_graph",
    });
  return { exit, target };
}

/** Runs a step's agent, and those that it hands off to; returns who answered, and the answer. */
function* executeStep(
  crew: Crew,
  step: PatternStep,
  { round, came, earlier }: { round: number; came: string; earlier: JsonObject },
): Flow<{ agent_id: string; answer: z.infer<typeof StepAnswer> }> {
  const member = crew.member(step.agent);
  if (!member)
    throw new NodeFailure("CONFIG", `Step "${step.step}" is for "${step.agent}", who isn't in the crew.`);
  crew.run.emit({ type: "round_started", payload: { round } });
  const worked = yield* relay(
    crew,
    member,
    {
      task: `${step.description ?? step.step.replaceAll("_", " ")}\nThis is the step "${step.step}" toward the goal.${came}`,
      output_keys: [],
      answer_schema: outcomeSchema(outcomesOf(step).map(({ outcome }) => outcome)),
      inputs: { goal: crew.goal, ...crew.run.input },
      earlier,
    },
    {
      idOf: (hop) => (hop === 1 ? `step-${round}` : `step-${round}.h${hop}`),
      wish: `Do the step "${step.step}", which was assigned to it, and report the outcome.`,
    },
  );
  return { agent_id: worked.agent.agent_id, answer: StepAnswer.parse(worked.result.output) };
}

function outcomeSchema(outcomes: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: {
      ...defined({
        outcome:
          outcomes.length > 0
            ? { type: "string", enum: [...outcomes], description: STEP_DESCRIPTIONS.outcome }
            : undefined,
      }),
      summary: { type: "string", minLength: 1, description: STEP_DESCRIPTIONS.summary },
      result: { type: "string", description: STEP_DESCRIPTIONS.result },
    },
    required: outcomes.length > 0 ? ["outcome", "summary"] : ["summary"],
    additionalProperties: false,
  };
}
