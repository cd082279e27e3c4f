import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { checkQuestions, checkTools } from "./checks/calls";
import type { Finding, Seen } from "./checks/finding";
import { checkPath, checkVisits } from "./checks/path";
import { checkCost, checkStatus, checkTokens } from "./checks/totals";
import { checkState, checkText } from "./checks/values";
import type { Expectation } from "./expectation";
import type { ExpectationResult } from "./report";

/** What became of each expectation, in their order, by the events of a run alone. Pure: equal runs give equal answers. */
export function checkExpectations(
  events: readonly RunEvent[],
  expectations: readonly Expectation[],
  state: RunState = foldRun("", events),
): ExpectationResult[] {
  const seen: Seen = { events, state };
  return expectations.map((expectation, at) => ({ at, expectation, ...check(seen, expectation) }));
}

function check(seen: Seen, expectation: Expectation): Finding {
  switch (expectation.kind) {
    case "status":
      return checkStatus(seen, expectation);
    case "path":
      return checkPath(seen, expectation);
    case "visits":
      return checkVisits(seen, expectation);
    case "state":
      return checkState(seen, expectation);
    case "cost":
      return checkCost(seen, expectation);
    case "tokens":
      return checkTokens(seen, expectation);
    case "questions":
      return checkQuestions(seen, expectation);
    case "tools":
      return checkTools(seen, expectation);
    case "text":
      return checkText(seen, expectation);
    case "judge":
      return {
        status: "not_checked",
        sentence: "This needs the word of a model, and none was asked.",
      };
  }
}
