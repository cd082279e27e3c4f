import type { Flow } from "@/server/domain/base/durable";
import { checkAnswer } from "@/server/domain/run/questions/tool-question";
import type { ToolAnswer, ToolQuestion } from "@/server/domain/tool/tool";
import type { About, ToolRuntime } from "../node/ports";

/** Puts to a person what a tool asks, durably. An answer that does not fit is no answer. */
export function* askForTool(
  run: ToolRuntime,
  key: string,
  { tool, about }: { tool: string; about: About },
  question: ToolQuestion,
): Flow<ToolAnswer> {
  const { answer, content = {} } = yield* run.ask(key, {
    about,
    kind: "question",
    title: `“${question.from}” asks a question before ${tool} can continue`,
    why: `It says: “${question.message}”`,
    asks: question,
  });
  if (answer === "expired" || answer === "cancel") return { question, action: "cancel" };
  if (answer === "reject") return { question, action: "decline" };
  if (question.url !== undefined) return { question, action: "accept" };
  // The answer was validated when it was accepted; an invalid one counts as no answer.
  const read = checkAnswer(question.schema ?? {}, content);
  return read.ok ? { question, action: "accept", content: read.content } : { question, action: "cancel" };
}
