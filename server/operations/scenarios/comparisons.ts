import type { LlmConfig } from "@/server/domain/agent/role";
import { Rejection } from "@/server/domain/errors/rejection";
import { modelUses } from "@/server/domain/library/model-uses";
import { ComparisonFields, ComparisonReport, MOST_RUNS } from "@/server/domain/scenario/comparison";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { variantOf } from "@/server/domain/scenario/variant";
import { compare } from "@/server/runner/scenario/comparison";
import type { Tested } from "@/server/runner/scenario/run-scenario";
import { operationsOf } from "../operation";
import type { Services } from "../services";
import { workflowOf } from "../workflows/stored-workflow";
import {
  ByWorkflow,
  ChosenTests,
  judgeBookOf,
  refuseUnrunnable,
  scenarioOf,
  spendingCapFor,
  testedOf,
  testsIn,
  WithRealModels,
} from "./stored-tests";

const { mutation } = operationsOf("Tests");

const Input = ByWorkflow.extend({ ...ComparisonFields, tests: ChosenTests, ...WithRealModels });

/** The chosen tests, and one for each further input. */
function casesOf(
  services: Services,
  id: string,
  { tests, inputs = [], expect = [] }: Pick<typeof Input._output, "tests" | "inputs" | "expect">,
): ScenarioTest[] {
  // Where inputs are given, tests run only if they are named.
  const chosen = inputs.length > 0 && !tests ? [] : testsIn(services, id, tests).map(scenarioOf);
  const own = inputs.map(({ name, input }, at) =>
    ScenarioTest.parse({ id: `input_${at + 1}`, name: name ?? `Input ${at + 1}`, input, expect }),
  );
  return [...chosen, ...own];
}

/** Throws bad_request if a real model's price is unknown: the cap could not be enforced. */
export function refuseUnpriced(
  { testParts }: Services,
  variants: readonly Tested[],
  tests: readonly ScenarioTest[],
) {
  const asked: LlmConfig[] = [
    ...variants.flatMap(({ graph }) => modelUses(graph).map(({ choice }) => choice)),
    ...tests.flatMap(({ expect }) =>
      expect.flatMap((one) => (one.kind === "judge" ? [one.model ?? {}] : [])),
    ),
  ];
  for (const choice of asked) {
    const described = testParts.models.describe(choice);
    if (!described) throw new Rejection("bad_request", `There is no model ${choice.model ?? ""}.`);
    if (!described.price_known)
      throw new Rejection(
        "bad_request",
        `The price of ${described.model} is unknown, so a limit in dollars can't be enforced. Set the price in the provider's settings.`,
      );
  }
}

export const comparisonOperations = {
  compare: mutation({
    name: "compareVariants",
    summary: "Compare variants of a workflow by quality, cost and time",
    about:
      "Runs the same inputs on each variant. A variant has other models or prompts, or a single agent instead of a crew. The inputs come from the tests, or from `inputs` with their `expect`. Without `real`, only recordings, pins and the offline demo model answer, and anything that they can't answer is reported. With `real`, models are called, up to `max_cost_usd` for the entire comparison, and anything that didn't run is reported. Stops when the caller disconnects.",
    needs: ["run", "read"],
    input: Input,
    output: ComparisonReport,
    problems: ["not_found", "bad_request", "workflow_has_problems", "too_large", "queue_full"],
    http: {
      route: "POST /workflows/{id}/tests/compare",
      success: "The comparison",
    },
    async run(services, { workflow_id: id, variants, repeats = 1, ...asked }, { signal }) {
      const workflow = workflowOf(services, id);
      const spendingCap = spendingCapFor(asked);
      const tests = casesOf(services, id, asked);
      if (tests.length === 0)
        throw new Rejection("bad_request", "Nothing to compare. Specify inputs, or add a test.");
      if (variants.length * tests.length * repeats > MOST_RUNS)
        throw new Rejection(
          "too_large",
          `This would be ${variants.length * tests.length * repeats} runs. A comparison can have at most ${MOST_RUNS}.`,
        );
      const base = testedOf(services, workflow);
      const made = variants.map(({ name, ...variant }) => {
        const changed = variantOf(
          base,
          variant,
          (choice) => services.testParts.models.describe(choice)?.model,
        );
        if ("errors" in changed)
          throw new Rejection("bad_request", `The variant ${name} is invalid: ${changed.errors.join(" ")}`, {
            faults: changed.errors,
          });
        const tested = { ...base, ...changed };
        refuseUnrunnable(tested, workflow);
        return { name, tested };
      });
      if (spendingCap)
        refuseUnpriced(
          services,
          made.map(({ tested }) => tested),
          tests,
        );
      return services.testGates.through(spendingCap ? "real" : "offline", signal, () =>
        compare({
          name: workflow.name,
          variants: made,
          tests,
          repeats,
          parts: services.testParts,
          spendingCap,
          book: judgeBookOf(services, id),
          aborted: signal,
        }),
      );
    },
  }),
};
