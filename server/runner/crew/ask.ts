import type { Flow } from "@/server/domain/base/durable";
import { NodeFailure } from "@/server/domain/nodes";
import { termsOf } from "@/server/domain/nodes/question-terms";
import type { PersonQuestion } from "../node/ports";
import type { Answered } from "../people/ask";
import type { Crew } from "./crew";

/**
 * Asks a person on the terms of the crew. Where nobody answers it is a yes only if the crew says so; where it says that this is
 * a failure, or nobody is left to be asked, NodeFailure is thrown; else whoever asks reads `expired` as a no.
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
      throw new NodeFailure("HUMAN_TIMEOUT", `Nobody answered ${name} in time: ${question.title}`, {
        user_action: "retry",
      });
    case "reject":
    case undefined:
      return answer;
  }
}
