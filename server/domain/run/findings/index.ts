import type { RunEvent } from "../events";
import { budgetEaten } from "./budget-eaten";
import { endNotNoticed } from "./end-not-noticed";
import { failurePassedOver } from "./failure-passed-over";
import { feedbackUnread } from "./feedback-unread";
import { type Detector, type Finding, type FindingKind, indexEvents } from "./finding";
import { historyLost } from "./history-lost";
import { inputCut } from "./input-cut";
import { pingPong } from "./ping-pong";
import { planNotDone } from "./plan-not-done";
import { questionUnanswered } from "./question-unanswered";
import { repeatedStep } from "./repeated-step";
import { checkPassedOver, notVerified, verifiedTooEarly } from "./verification";
import { voteMissing } from "./vote-missing";
import { workOverwritten } from "./work-overwritten";
import { wrongForm } from "./wrong-form";
import { wrongTool } from "./wrong-tool";
import { wrongWorker } from "./wrong-worker";

export { FINDING_KINDS, type Finding, type FindingKind } from "./finding";

const DETECTORS: Readonly<Record<FindingKind, Detector>> = {
  repeated_step: repeatedStep,
  history_lost: historyLost,
  input_cut: inputCut,
  work_overwritten: workOverwritten,
  end_not_noticed: endNotNoticed,
  not_verified: notVerified,
  verified_too_early: verifiedTooEarly,
  check_passed_over: checkPassedOver,
  wrong_tool: wrongTool,
  wrong_worker: wrongWorker,
  plan_not_done: planNotDone,
  ping_pong: pingPong,
  feedback_unread: feedbackUnread,
  wrong_form: wrongForm,
  budget_eaten: budgetEaten,
  question_unanswered: questionUnanswered,
  vote_missing: voteMissing,
  failure_passed_over: failurePassedOver,
};

/** The failures in a run that its events prove, in order. No model is asked. */
export function findingsOf(events: readonly RunEvent[]): Finding[] {
  const run = indexEvents(events);
  return Object.values(DETECTORS)
    .flatMap((detect) => detect(run))
    .sort((a, b) => a.seq - b.seq);
}
