import type { Flow } from "@/server/domain/base/durable";
import { NodeFailure } from "@/server/domain/nodes";
import { termsOf } from "@/server/domain/nodes/asking/question-terms";
import type { PersonQuestion } from "../node/ports";
import type { Answered } from "../people/ask";
import type { Crew } from "./crew";

/**
 * Asks a person with the crew's settings. Without an answer it is approved only if the crew says so; if the crew makes
 * this a failure, or nobody is left to ask, throws NodeFailure; otherwise the caller reads `expired` as a rejection.
 */
export function* askForCrew(
  { run, config, name }: Pick<Crew, "run" | "config" | "name">,
  key: string,
  question: PersonQuestion,
): Flow<Answered> {
  const { questions = {} } = config;
  const answer = yield* run.ask(key, { ...question, ...termsOf(questions) });
  if (answer.answer !== "expired") return answer;
  switch (questions.on_timeout) {
    case "approve":
      return { ...answer, answer: "approve" };
    case "fail":
    case "escalate":
      throw new NodeFailure("HUMAN_TIMEOUT", `No one answered ${name} in time: ${question.title}`, {
        user_action: "retry",
      });
    case "reject":
    case undefined:
      return answer;
  }
}
