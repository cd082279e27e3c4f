import { z } from "zod";
import { judgeId } from "@/server/runner/scenario/judging";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { workflowOf } from "../workflows/stored-workflow";
import { ByWorkflow } from "./stored-tests";

const { mutation, query } = operationsOf("Tests");

const JudgeId = z.string().regex(/^[0-9a-f]{24}$/);
const ByJudge = ByWorkflow.extend({ judge: JudgeId });

/** A judge of a workflow's tests. */
const JudgeView = z.object({
  judge: z.string().meta({ description: "Identifies its rubric and model" }),
  rubric: z.string(),
  model: z.string(),
  simulated: z.boolean().meta({ description: "Whether it is the offline demo model" }),
  threshold: z.number().meta({ description: "Minimum score to pass" }),
  gate_kappa: z.number().meta({ description: "Deprecated; has no effect" }),
  tests: z.array(z.string()).meta({ description: "IDs of the tests that use it" }),
  outputs: z.int().meta({ description: "Number of outputs judged" }),
  labels: z.int().meta({ description: "Number of outputs that a person labeled" }),
  same: z.int().meta({ description: "Number of labels that agree with the judge" }),
  kappa: z.number().nullable().meta({ description: "Always null; agreement is no longer computed" }),
  counts: z.boolean().meta({
    description:
      "Whether its verdict decides an expectation; the offline demo model's verdict is only a note",
  }),
});

const JudgedOutput = z.object({
  judge: z.string(),
  item: z.string(),
  test_id: z.string(),
  text: z.string(),
  score: z.number(),
  reason: z.string(),
  at: z.int().meta({ description: "Unix time in milliseconds" }),
  good: z.boolean().nullable().meta({ description: "Null if not labeled" }),
  labelled_by: z.string().nullable(),
  labelled_at: z.int().nullable(),
});

/** The judges of a workflow's tests, each with its tests. */
function judgesIn({ scenarios, testParts }: Services, id: string) {
  const found = new Map<string, Omit<z.infer<typeof JudgeView>, "outputs" | "labels" | "same">>();
  for (const test of scenarios.list(id))
    for (const expectation of test.expect) {
      if (expectation.kind !== "judge") continue;
      const { rubric, threshold, gate_kappa } = expectation;
      const models = test.simulated ? testParts.demoModels() : testParts.models;
      const described = models.describe(expectation.model);
      if (!described) continue;
      const { model, simulated } = described;
      const judge = judgeId(rubric, described);
      const key = JSON.stringify([judge, threshold, gate_kappa]);
      const known = found.get(key);
      if (!known)
        found.set(key, {
          ...{ judge, rubric, model, simulated, threshold, gate_kappa },
          ...{ tests: [test.id], kappa: null, counts: !simulated },
        });
      else if (!known.tests.includes(test.id)) known.tests.push(test.id);
    }
  return [...found.values()];
}

/** Judges of tests, and a person's labels on their verdicts. */
export const judgeOperations = {
  judges: query({
    name: "listJudges",
    summary: "List the judges of a workflow's tests",
    about: "A judge is a rubric and a model.",
    needs: "read",
    input: ByWorkflow,
    output: z.array(JudgeView),
    http: {
      route: "GET /workflows/{id}/tests/judges",
      success: "The judges, in the order of the tests",
      as: "judges",
    },
    run(services, { workflow_id: id }) {
      workflowOf(services, id);
      return judgesIn(services, id).map((one) => ({
        ...one,
        ...services.scenarios.judges.judgeCounts(id, one.judge, one.threshold),
      }));
    },
  }),

  judged: query({
    name: "listJudgedOutputs",
    summary: "List the outputs that a judge scored",
    about: "Unlabeled ones first, then newest first. The last 200 are kept.",
    needs: "read",
    input: ByJudge,
    output: z.array(JudgedOutput),
    http: {
      route: "GET /workflows/{id}/tests/judges/{judge}/outputs",
      success: "The judged outputs, at most 500",
      as: "outputs",
    },
    run(services, { workflow_id: id, judge }) {
      workflowOf(services, id);
      return services.scenarios.judges.judged(id, judge);
    },
  }),

  label: mutation({
    name: "labelOutput",
    summary: "Label an output as good or bad, or remove the label",
    about: "A label is stored with the verdict. It doesn't change the judge's decisions.",
    needs: "author",
    input: ByJudge.extend({
      item: z.string().regex(/^[0-9a-f]{32}$/),
      good: z.boolean().nullable().meta({ description: "Null removes the label" }),
    }),
    http: { route: "PUT /workflows/{id}/tests/judges/{judge}/outputs/{item}", success: "Stored" },
    run(services, { workflow_id: id, judge, item, good }, { by }) {
      workflowOf(services, id);
      if (!services.scenarios.judges.label(id, { judge, item, good, by })) throw notFound("output");
    },
  }),
};
