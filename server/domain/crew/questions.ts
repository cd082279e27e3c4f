import type { z } from "zod";
import { QuestionTerms } from "@/server/domain/tool/person-question";

/**
 * The terms on which a crew asks people: to look at results, to let tasks begin, to break a tie, where a task failed. What is
 * not set is as usual, and without an answer that is never a yes.
 */
export const CrewQuestions = QuestionTerms.pick({
  timeout_s: true,
  urgency: true,
  assigned_to: true,
  required_expertise: true,
  escalation: true,
}).extend({
  /** Nobody works on in passing while a result is looked at. */
  mode: QuestionTerms.shape.mode.unwrap().extract(["sync", "async"]).optional(),
  on_timeout: QuestionTerms.shape.on_timeout
    .unwrap()
    .extract(["reject", "approve", "fail", "escalate"])
    .optional(),
});
export type CrewQuestions = z.infer<typeof CrewQuestions>;
