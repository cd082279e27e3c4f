import type { Flow } from "@/server/domain/durable";
import type { ToolAnswer, ToolQuestion } from "@/server/domain/tool";
import { aboutQuestion, howToAnswer, readAnswer } from "@/server/tools/question";
import type { NodeRun } from "./node-run";

/** An answer that does not fit is asked for so often. */
const TRIES = 3;

/** Puts to a person what a tool asks, durably, until the answer is as it was asked for or they decline. */
export function* askForTool(
  run: NodeRun,
  key: string,
  tool: string,
  question: ToolQuestion,
  about: { agent_id: string; task_id?: string } = { agent_id: run.node.id },
): Flow<ToolAnswer> {
  let fault = "";
  for (let round = 1; round <= TRIES; round++) {
    const { answer, message = "" } = yield* run.ask(round === 1 ? key : `${key}/try${round}`, {
      about,
      kind: "escalation",
      title: `“${question.from}” asks you something, to go on with ${tool}`,
      why: `${fault}It says: “${question.message}”. ${howToAnswer(question)}`,
      args: aboutQuestion(question),
    });
    if (answer === "expired") return { question, action: "cancel" };
    if (answer === "reject") return { question, action: "decline" };
    if (question.url !== undefined) return { question, action: "accept" };
    const read = readAnswer(question.schema ?? {}, message);
    if (read.ok) return { question, action: "accept", content: read.content };
    fault = `That does not fit: ${read.errors.join("; ")}. `;
  }
  return { question, action: "cancel" };
}
