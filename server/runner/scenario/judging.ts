import { createHash, randomBytes } from "node:crypto";
import { JUDGE } from "@/server/domain/agent/judge";
import { answerPrompt, systemPrompt, taskPrompt } from "@/server/domain/agent/prompt";
import type { LlmConfig } from "@/server/domain/agent/role";
import { errorMessage } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import { valueOf } from "@/server/domain/scenario/checks/values";
import type { JudgeExpectation } from "@/server/domain/scenario/expectation";
import type { ExpectationResult, Judged } from "@/server/domain/scenario/report";
import { FENCES, promptText } from "@/server/domain/text/fence";
import type { ModelAnswer, Models } from "@/server/llm/model";
import { parseOutput } from "@/server/llm/tool-calls/structured-output";
import { BrokenOff } from "../durable/virtual-run";

/** Characters. A longer output is not judged, because a verdict on a part would stand for the whole. */
export const LONGEST_JUDGED = 60_000;

export interface Verdict {
  score: number;
  reason: string;
}

/** An output to judge. `judge` and `item` are hashes: of the rubric with the model, and of the text. */
export interface JudgedText {
  judge: string;
  item: string;
  test_id: string;
  text: string;
}

/** The verdicts of a workflow's judges. */
export interface JudgeBook {
  /** The stored verdict on exactly this output. */
  find(judge: string, item: string): Verdict | undefined;
  keep(judged: JudgedText, verdict: Verdict): void;
}

/** Stores nothing. */
export const EMPTY_BOOK: JudgeBook = { find: () => undefined, keep() {} };

/** The judges of one test. */
export interface Judges {
  test_id: string;
  book: JudgeBook;
  /** The model to call; null: only stored verdicts count. */
  ask(config: LlmConfig): Models | null;
  describe: Models["describe"];
  aborted?: AbortSignal | undefined;
}

const VERDICT: JsonSchema = {
  type: "object",
  properties: {
    reason: { type: "string", description: "The deciding evidence in the value, in one or two sentences" },
    score: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "How well the rubric is met: 0 not at all, 1 fully",
    },
  },
  required: ["reason", "score"],
  additionalProperties: false,
};

const hash = (value: Json): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

/** The id of a judge. Another rubric or model is another judge. */
export const judgeId = (
  rubric: string,
  described: { provider_id: string; model: string; simulated: boolean },
): string =>
  hash([rubric, described.simulated ? "demo" : [described.provider_id, described.model]]).slice(0, 24);

/** Judges a run, by a stored verdict or by asking the model. */
export async function judge(
  judges: Judges,
  expectation: JudgeExpectation,
  state: RunState,
): Promise<Pick<ExpectationResult, "status" | "sentence" | "judge">> {
  const { rubric, key, of, model: config = {} } = expectation;
  const value = key === undefined ? (state.run.output ?? undefined) : valueOf({ state }, key, of);
  if (value === undefined)
    return {
      status: "failed",
      sentence: `${key ?? "The output"} can't be judged because it doesn't exist.`,
    };
  const text = promptText(value);
  if (text.length > LONGEST_JUDGED)
    return notChecked(
      `It is too long to judge: ${text.length} characters; the maximum is ${LONGEST_JUDGED}.`,
    );
  const described = judges.describe(config);
  if (!described) return notChecked("No model is available as a judge. Add one in Settings.");
  const named = {
    judge: judgeId(rubric, described),
    item: hash(text).slice(0, 32),
    test_id: judges.test_id,
    text,
  };
  const before = judges.book.find(named.judge, named.item);
  const models = judges.ask(config);
  if (!before && !models)
    return notChecked(
      "This needs a model's verdict: run the test with real models. The judge's verdict on an output is kept and reused for identical outputs.",
    );
  const answer: JudgeAnswer = before
    ? { ...before, tokens: 0, cost_usd: 0 }
    : models
      ? await verdictOf(models, expectation, text, judges.aborted)
      : { failure: "no model was asked." };
  if ("failure" in answer) return notChecked(`The judge returned no verdict: ${answer.failure}`);
  if (!before) judges.book.keep(named, { score: answer.score, reason: answer.reason });
  return weighed(expectation.threshold, {
    judge: named.judge,
    item: named.item,
    ...answer,
    model: described.model,
    simulated: described.simulated,
    recorded: before !== undefined,
  });
}

const notChecked = (sentence: string) => ({ status: "not_checked" as const, sentence });

/** The result of a verdict. A score of the offline demo model says nothing about the output, so it is only a note. */
function weighed(
  threshold: number,
  verdict: Omit<Judged, "threshold" | "kappa" | "labels" | "counts">,
): Pick<ExpectationResult, "status" | "sentence" | "judge"> {
  const { score, reason, model, simulated } = verdict;
  const who = simulated ? "The offline demo model" : model;
  const sentence = `${who} gave a score of ${score.toFixed(2)} (minimum ${threshold}): ${sentenceOf(reason)}`;
  const judge = { ...verdict, threshold, kappa: null, labels: 0, counts: !simulated };
  if (simulated)
    return { status: "note", sentence: `${sentence} This score is simulated, so it isn't counted.`, judge };
  return { status: score >= threshold ? "passed" : "failed", sentence, judge };
}

const sentenceOf = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

type JudgeAnswer = (Verdict & { tokens: number; cost_usd: number | null }) | { failure: string };

/** Asks for a verdict, and once more if the answer does not match the schema. Throws BrokenOff at the spending cap. */
async function verdictOf(
  models: Models,
  { rubric, model = {} }: JudgeExpectation,
  text: string,
  aborted: AbortSignal | undefined,
): Promise<JudgeAnswer> {
  const paid: { tokens: number; cost_usd: number | null } = { tokens: 0, cost_usd: 0 };
  let failure = "";
  for (let attempt = 1; attempt <= 2; attempt++) {
    let answer: ModelAnswer;
    try {
      answer = await models.complete(
        {
          llm_config: model,
          messages: [
            { role: "system", content: systemPrompt(JUDGE) },
            {
              role: "user",
              content: taskPrompt({
                id: randomBytes(6).toString("hex"),
                task: `Rate how well the value meets this rubric:\n${FENCES.fence("criteria", rubric)}`,
                inputs: { value: text },
                answer: answerPrompt({ schema: VERDICT }),
              }),
            },
          ],
          response: { name: "verdict", schema: VERDICT },
          call_id: `judge/${attempt}`,
          run_id: "judge",
        },
        { signal: aborted ?? new AbortController().signal, delta() {} },
      );
    } catch (error) {
      if (error instanceof BrokenOff || aborted?.aborted) throw error;
      return { failure: errorMessage(error) };
    }
    paid.tokens += answer.usage.input_tokens + answer.usage.output_tokens;
    paid.cost_usd =
      paid.cost_usd === null || answer.cost_usd === null ? null : paid.cost_usd + answer.cost_usd;
    const read = readVerdict(answer.content);
    if (read) return { ...read, ...paid };
    failure = "its response did not match the schema.";
  }
  return { failure };
}

function readVerdict(content: string): Verdict | null {
  const read = parseOutput(content, VERDICT);
  if (!read.ok) return null;
  const { value } = read;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const { score, reason } = value;
  return typeof score === "number" && typeof reason === "string" ? { score, reason } : null;
}
