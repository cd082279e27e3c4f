import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import { formatDollars, knownCost } from "@/server/domain/model/cost";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { checkQuestions, checkTools } from "./checks/calls";
import { type Finding, found, lastOf, placeOf, type Seen } from "./checks/finding";
import { checkPath, checkVisits } from "./checks/path";
import { checkState, checkText } from "./checks/values";
import type { Expectation, ExpectationOf } from "./expectation";
import type { ExpectationResult } from "./report";

/** Checks expectations against the events of a run. */
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
        sentence: "This needs a model's verdict, but no model was called.",
      };
  }
}

export function checkStatus(seen: Seen, { is, reason }: ExpectationOf<"status">): Finding {
  const { final_status, reason_code, error } = seen.state.run;
  const at = placeOf(lastOf(seen));
  const wanted = `${FINAL_STATUS_LABELS[is]}${reason === undefined ? "" : ` (${reason})`}`;
  if (!final_status)
    return found(false, `Expected status ${wanted}, but the run did not finish.`, {
      expected: is,
      seen: null,
      ...at,
    });
  const place = error?.node_id === undefined ? at : { ...at, node_id: error.node_id };
  const holds = final_status === is && (reason === undefined || reason === reason_code);
  const why = error ? ` ${error.message}` : "";
  const ended = `${FINAL_STATUS_LABELS[final_status]} (${reason_code ?? "no reason"})`;
  return found(holds, holds ? `Finished as ${wanted}.` : `Expected status ${wanted}, got ${ended}.${why}`, {
    expected: reason === undefined ? is : { status: is, reason },
    seen: reason === undefined ? final_status : { status: final_status, reason: reason_code ?? null },
    ...place,
  });
}

export function checkCost(seen: Seen, { at_most_usd }: ExpectationOf<"cost">): Finding {
  const { totals } = seen.state;
  const most = formatDollars(at_most_usd);
  const at = placeOf(lastOf(seen));
  const unknown = totals.unknown_cost_calls;
  if (unknown > 0)
    return found(
      false,
      `Expected a cost of at most ${most}, but the price of ${unknown} ${unknown === 1 ? "call" : "calls"} is unknown.`,
      { expected: at_most_usd, seen: knownCost(totals), ...at },
    );
  const holds = totals.cost_usd <= at_most_usd;
  return found(
    holds,
    holds
      ? `Cost ${formatDollars(totals.cost_usd)}, at most ${most}.`
      : `Expected a cost of at most ${most}, got ${formatDollars(totals.cost_usd)}.`,
    { expected: at_most_usd, seen: totals.cost_usd, ...at },
  );
}

export function checkTokens(seen: Seen, { at_most }: ExpectationOf<"tokens">): Finding {
  const { input_tokens, output_tokens } = seen.state.totals.usage;
  const used = input_tokens + output_tokens;
  return found(
    used <= at_most,
    used <= at_most
      ? `Used ${used} tokens, at most ${at_most}.`
      : `Expected at most ${at_most} tokens, got ${used}.`,
    { expected: at_most, seen: used, ...placeOf(lastOf(seen)) },
  );
}
