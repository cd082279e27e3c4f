import type { Flow } from "@/server/domain/base/durable";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { customPatterns, outcomesOf, type PatternStep } from "@/server/domain/crew/pattern";
import { NodeFailure } from "@/server/domain/nodes";
import type { Crew } from "./crew";

/**
 * Follows a custom pattern: each step's agent works and says how it came out, and the pattern says what comes next.
 * A target is a step's name, else an agent who has one step, else the end. Ends with what the last step gave.
 */
export function* followPattern(crew: Crew): Flow<JsonObject> {
  const { run, config } = crew;
  const [pattern] = customPatterns(config.collaboration_patterns);
  if (!pattern) throw new NodeFailure("CONFIG", `${crew.name} has no pattern to follow. Add its steps.`);
  const steps = pattern.workflow;
  const results: Record<string, Json> = {};
  let step: PatternStep | undefined = steps[0];
  let came: string | null = null;
  for (let round = 1; step; round++) {
    if (round > config.max_rounds)
      throw new NodeFailure(
        "MAX_ITERATIONS",
        `${crew.name} was not done after ${config.max_rounds} steps, which is its limit.`,
        { user_action: "edit_graph" },
      );
    const agent = crew.member(step.agent);
    if (!agent)
      throw new NodeFailure("CONFIG", `Step "${step.step}" is for "${step.agent}", who is not in the crew.`);
    run.emit({ type: "round_started", payload: { round } });
    const exits = outcomesOf(step);
    const result = yield* crew.work(agent, {
      task_id: `step-${round}`,
      task: `${step.description ?? step.step.replaceAll("_", " ")}\nThis is the step "${step.step}" of: ${crew.goal}${came ? `\n${came}` : ""}`,
      output_keys: [],
      answer_schema: outcomeSchema(exits.map(({ outcome }) => outcome)),
      inputs: { goal: crew.goal, ...run.input },
      earlier: { ...results },
    });
    const { outcome, summary } = result.output as { outcome?: string; summary: string };
    results[step.step] = summary;
    const exit = exits.find((one) => one.outcome === outcome);
    const next: PatternStep | undefined = exit ? targetOf(exit.target, steps) : undefined;
    if (!next) {
      crew.post(agent.agent_id, "User", exit ? `${exit.target}: ${summary}` : summary, "reply", exit?.target);
      return crew.outputs({
        ...results,
        outcome: exit?.target ?? outcome ?? "done",
        summary,
        result: summary,
      });
    }
    const to = crew.member(next.agent)?.agent_id ?? next.agent;
    crew.post(agent.agent_id, to, `${outcome}: ${summary}`, "post", outcome);
    came = `It came here from "${step.step}" with the outcome "${outcome}": ${summary}`;
    step = next;
  }
  throw new NodeFailure("CONFIG", `${crew.name} has a pattern without steps.`);
}

/** The step that a target means, as graph/compile-pattern.ts compiles it; none: the end. */
function targetOf(target: string, steps: readonly PatternStep[]): PatternStep | undefined {
  const named = steps.find(({ step }) => step === target);
  if (named) return named;
  const own = steps.filter(({ agent }) => agent === target);
  return own.length === 1 ? own[0] : undefined;
}

function outcomeSchema(outcomes: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: {
      ...(outcomes.length > 0 ? { outcome: { type: "string", enum: [...outcomes] } } : {}),
      summary: { type: "string", minLength: 1 },
    },
    required: outcomes.length > 0 ? ["outcome", "summary"] : ["summary"],
    additionalProperties: false,
  };
}
