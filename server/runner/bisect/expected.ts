import { present } from "@/server/domain/base/must";
import type { RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { checkExpectations } from "@/server/domain/scenario/check";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";

/** Whether an expectation holds of a run, as in a test of its workflow, and what was seen, a sentence. */
export function findingOf(
  events: readonly RunEvent[],
  expectation: RuleExpectation,
  state?: RunState,
): { holds: boolean; sentence: string } {
  const [result] = checkExpectations(events, [expectation], state);
  const { status, sentence } = present(result, "result");
  return { holds: status === "passed", sentence };
}
