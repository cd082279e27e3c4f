import { Rejection } from "@/server/domain/errors/rejection";
import type { BisectReport } from "@/server/domain/run/bisect/report";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { checkExpression, ExpressionError } from "@/server/domain/text/expression/expression";
import type { RunStore } from "@/server/store/runs/runs";
import { bisect } from "./bisect";
import { findingOf } from "./expected";
import type { Code } from "./on-record";
import { recordingOf } from "./recording";

const notCompared = (why: string) => new Rejection("not_compared", why);

export interface BisectRequest {
  good: string;
  bad: string;
  expect: RuleExpectation;
}

/** Finds what made the difference between runs of the store. */
export function newBisector(store: Pick<RunStore, "find" | "events" | "journal">, code: Code) {
  const readRun = (id: string, expectation: RuleExpectation) => {
    const events = store.events(id, 0, Number.MAX_SAFE_INTEGER);
    if (events.length === 0) throw notCompared("The log of one of these runs no longer exists.");
    return findingOf(events, expectation);
  };
  const recorded = (id: string) => {
    const recording = recordingOf(store, id);
    if (!recording)
      throw notCompared(
        "One of these runs was created by another version of Troupe and can't be replayed here.",
      );
    return recording;
  };
  return {
    /** Throws Rejection, ExpressionError, DamagedLog. */
    async findDifference({ good, bad, expect }: BisectRequest): Promise<BisectReport> {
      const runs = [good, bad].map((id) => store.find(id));
      if (runs.some((run) => run?.status !== "finished")) throw notCompared("Both runs must be finished.");
      const [one, other] = runs.map((run) => run?.workflow_id ?? null);
      if (good === bad || one !== other)
        throw notCompared("Choose a good and a bad run of the same workflow.");
      // An unreadable condition would fail in both.
      const [error] = expect.kind === "state" ? checkExpression(expect.when, { result: "bool" }) : [];
      if (error && expect.kind === "state")
        throw new ExpressionError(error.message, expect.when, error.from, error.to);
      const [inGood, inBad] = [readRun(good, expect), readRun(bad, expect)];
      if (!inGood.holds)
        throw notCompared(
          `This isn't true in the good run. ${inGood.sentence} Choose an expectation that passes in the good run.`,
        );
      if (inBad.holds)
        throw notCompared(
          `This is also true in the bad run. ${inBad.sentence} Choose an expectation that fails in the bad run.`,
        );
      return bisect(recorded(good), recorded(bad), expect, code);
    },
  };
}
