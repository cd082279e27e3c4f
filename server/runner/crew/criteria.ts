import { z } from "zod";
import { JUDGE } from "@/server/domain/agent/judge";
import type { Flow } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import { leaderOf } from "@/server/domain/crew/leader";
import { isSince } from "@/server/domain/run/edition";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import type { Crew } from "./crew";
import { workOrHandOff } from "./patterns/relay";
import { textOf, valueOf } from "./values";

const VERDICTS: JsonSchema = {
  type: "object",
  properties: {
    verdicts: {
      type: "array",
      items: {
        type: "object",
        properties: {
          criterion: { type: "string", description: "The criterion, word for word" },
          met: { type: "boolean" },
          evidence: {
            type: "string",
            description: "The deciding evidence in the result; if the criterion is not met, what is missing",
          },
        },
        required: ["criterion", "met", "evidence"],
        additionalProperties: false,
      },
    },
  },
  required: ["verdicts"],
  additionalProperties: false,
};

const Verdict = z.object({ criterion: z.string(), met: z.boolean(), evidence: z.string() });
type Verdict = z.infer<typeof Verdict>;
const Verdicts = z.object({ verdicts: z.array(Verdict) });

/** What a crew made: the result, and the results of its tasks. */
interface Results {
  output: JsonObject;
  outputs: Readonly<Record<string, Json>>;
}

/**
 * Checks what a crew made against the plan's criteria of success: `cel:` ones exactly, others by a judge. Where some
 * are not met, its last agent gets one chance to improve the result; what then still fails is a warning.
 */
export function* meetCriteria(
  crew: Crew,
  output: JsonObject,
  outputs: Readonly<Record<string, Json>>,
): Flow<JsonObject> {
  const criteria = (crew.plan?.success_criteria ?? []).filter((criterion) => criterion.trim() !== "");
  if (criteria.length === 0) return output;
  const unmet = yield* check(crew, criteria, { output, outputs }, 1);
  if (unmet.length === 0) return output;
  const earlier = seenResults(crew, { output, outputs });
  const last = must(crew, "plan").tasks.findLast(({ status }) => status === "completed");
  const agent = crew.config.agents.find(({ agent_id }) => agent_id === last?.assigned_agent);
  let better = output;
  if (agent) {
    const unmetText = unmet.map(({ criterion, evidence }) => `- ${criterion}: ${evidence}`).join("\n");
    const task = `Improve the result so that it meets these criteria, which it does not meet yet:\n${crew.fences.fence("criteria", unmetText)}\nReturn the complete improved result.`;
    const work = {
      task_id: crew.idBesideTasks("correction"),
      task,
      output_keys: crew.request.output_keys,
      inputs: { goal: crew.goal, result: valueOf(output) },
      earlier,
    };
    const { result } = yield* workOrHandOff(crew, agent, work, task);
    better = crew.outputs(valueOf(result.output));
  }
  const still = yield* check(crew, criteria, { output: better, outputs }, 2);
  for (const { criterion, evidence } of still)
    crew.run.warn("CRITERION_UNMET", `${crew.name} doesn't meet "${criterion}": ${evidence}`);
  return better;
}

/** Notes on the way which exact criteria have come to be met, or are so no more: they cost no call of a model. */
export function noteProgress(crew: Crew, output: JsonObject, outputs: Readonly<Record<string, Json>>): void {
  const noted = new Map(
    crew.run.s.criteria[crew.run.activationId]?.map(({ criterion, met }) => [criterion, met]),
  );
  const work = new Work();
  for (const criterion of crew.plan?.success_criteria ?? []) {
    if (!criterion.startsWith("cel:")) continue;
    const verdict = exactly(crew, criterion, { output, outputs }, work);
    if (verdict.met !== (noted.get(criterion) ?? false))
      crew.run.emit({ type: "criterion_checked", payload: verdict });
  }
}

function exactly(crew: Crew, criterion: string, { output, outputs }: Results, work: Work): Verdict {
  const { input, now } = crew.run;
  const scope = { state: { ...crew.run.state, ...outputs }, input, output, now };
  const { value, note } = evaluateCondition(criterion.slice(4).trim(), scope, work);
  return { criterion, met: value, evidence: note ?? (value ? "It is true." : "It is not true.") };
}

/** The results of tasks that the result was made of; none in runs of before the third edition. */
function seenResults(crew: Crew, { output, outputs }: Results): Record<string, Json> {
  if (!isSince(crew.run.s.run, 3)) return {};
  const result = textOf(valueOf(output));
  return Object.fromEntries(Object.entries(outputs).filter(([, value]) => textOf(value) !== result));
}

/** The criteria that are not met. */
function* check(crew: Crew, criteria: readonly string[], results: Results, round: number): Flow<Verdict[]> {
  const exact = criteria.filter((criterion) => criterion.startsWith("cel:"));
  const textCriteria = criteria.filter((criterion) => !criterion.startsWith("cel:"));
  const work = new Work();
  const verdicts: Verdict[] = exact.map((criterion) => exactly(crew, criterion, results, work));
  if (textCriteria.length > 0) {
    const judge = leaderOf(crew.config);
    const earlier = seenResults(crew, results);
    const behind =
      Object.keys(earlier).length > 0
        ? " The task results that it is based on follow: check its claims against them."
        : "";
    const answer = yield* crew.work(judge, {
      task_id: crew.idBesideTasks(`criteria-${round}`),
      purpose: "judge",
      may_use_tools: false,
      role: JUDGE,
      task: `For each criterion, say whether the result meets it, with evidence from the result.${behind}\n${crew.fences.fence("criteria", textCriteria.map((criterion) => `- ${criterion}`).join("\n"))}`,
      output_keys: [],
      answer_schema: VERDICTS,
      inputs: { goal: crew.goal, result: textOf(valueOf(results.output)) },
      earlier,
    });
    const given = Verdicts.parse(answer.output).verdicts;
    for (const [at, criterion] of textCriteria.entries()) {
      const verdict = given.find((one) => one.criterion === criterion) ?? given[at];
      verdicts.push(
        verdict ? { ...verdict, criterion } : { criterion, met: false, evidence: "The judge did not say." },
      );
    }
  }
  for (const verdict of verdicts) crew.run.emit({ type: "criterion_checked", payload: verdict });
  return verdicts.filter(({ met }) => !met);
}
