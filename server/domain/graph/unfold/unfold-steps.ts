import { must } from "@/server/domain/base/must";
import { memberNamed } from "@/server/domain/crew/member";
import { STEP_DESCRIPTIONS } from "@/server/domain/crew/pattern";
import { asTemplate } from "@/server/domain/text/template/template";
import { resolveSteps } from "../compile-pattern";
import { keyOf, nameFrom, orElse, type Unfolded } from "./unfolded";

/** Expands the steps of a custom pattern into nodes, with a router behind each step that has several outcomes. */
export function drawSteps(drawn: Unfolded, pattern: Parameters<typeof resolveSteps>[0]): void {
  const { crew } = drawn;
  const placed = resolveSteps(pattern, drawn.findings);
  const outcomeKey = drawn.key("outcome");
  const keys = placed.map(({ step }) => drawn.key(step.step));
  const ids = placed.map(({ step, branches }, at) => {
    const agent = memberNamed(crew.agents, step.agent);
    if (!agent)
      drawn.findings.changed(
        `workflow.${at}.agent`,
        `The crew has no agent "${step.agent}", so the node uses a role with that name.`,
      );
    const work = { type: "string", description: STEP_DESCRIPTIONS.result };
    const outcome = {
      type: "string",
      enum: branches.map((way) => way.outcome),
      description: STEP_DESCRIPTIONS.outcome,
    };
    const key = must(keys, at);
    return drawn.task(step.step, agent, step.agent, {
      task: `${asTemplate(step.description ?? nameFrom(step.step))}\n\nHow the step before came out: {{${outcomeKey} | default: "this is the first step"}}`,
      key,
      reads: [...keys, outcomeKey],
      schema: {
        type: "object",
        properties: branches.length > 0 ? { [outcomeKey]: outcome, [key]: work } : { [key]: work },
        required: branches.length > 0 ? [outcomeKey, key] : [key],
      },
    });
  });
  drawn.first.push(must(ids, 0));
  const named = placed.map(({ step }, at) => [step.step, must(keys, at)] as const);
  for (const [at, { step, branches }] of placed.entries()) {
    const id = must(ids, at);
    const over = (outcome: string) =>
      drawn.results(outcome, outputsOf(drawn.node.output_keys, named, must(keys, at), outcome));
    if (branches.length === 0) {
      drawn.connect(id, over("done"));
      continue;
    }
    const router = drawn.add(`${id.slice(0, 56)}_router`, (own) => ({
      id: own,
      node_type: "conditional_router",
      name: `After ${nameFrom(step.step)}`.slice(0, 200),
      input_keys: [outcomeKey],
      config: {
        kind: "expression",
        conditions: branches.map(({ outcome }) => ({
          label: outcome.slice(0, 200),
          when: `state.${outcomeKey} == ${JSON.stringify(outcome)}`,
        })),
      },
    }));
    drawn.connect(id, router);
    for (const { outcome, target, to, failed } of branches)
      drawn.connect(
        router,
        to !== null ? must(ids, to) : failed ? drawn.failure(target) : over(target),
        outcome.slice(0, 200),
      );
  }
}

/**
 * The value of each output key where a pattern ended: as the crew gives it. `steps`: the name and key of each step;
 * `last`: the key of the step that ended it.
 */
function outputsOf(
  outputs: readonly string[],
  steps: readonly (readonly [name: string, key: string])[],
  last: string,
  outcome: string,
): Record<string, string> {
  const literal = JSON.stringify(outcome);
  const whole = [
    ...steps.map(([name, key]) => `${keyOf(name)}: ${key === last ? `state.${key}` : orElse(key)}`),
    `"outcome": ${literal}`,
    `"summary": state.${last}`,
  ];
  return Object.fromEntries(
    outputs.map((output): [string, string] => {
      if (output === "outcome") return [output, literal];
      if (output === "summary" || output === "result") return [output, `state.${last}`];
      const own = steps.find(([name]) => name === output)?.[1];
      if (own) return [output, own === last ? `state.${own}` : orElse(own, `state.${last}`)];
      return [output, `{${whole.join(", ")}}`];
    }),
  );
}
