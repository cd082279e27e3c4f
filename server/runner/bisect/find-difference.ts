import { namedError } from "@/server/domain/base/named-error";
import { type BisectExpectation, expectationInWords, isMet } from "@/server/domain/run/bisect/expectation";
import type { BisectReport } from "@/server/domain/run/bisect/report";
import type { RunStore } from "@/server/store/runs";
import { bisect } from "./bisect";
import type { Code } from "./on-record";
import { recordingOf } from "./recording";

/** Why nothing can be searched for between two runs, in a sentence. */
export class RefusedBisect extends namedError("RefusedBisect") {}

export interface BisectRequest {
  good: string;
  bad: string;
  expect: BisectExpectation;
}

/** Finds what made the difference between runs of the store. */
export function newBisector(store: Pick<RunStore, "find" | "state" | "journal">, code: Code) {
  /** Throws ExpressionError where the condition cannot be evaluated. */
  const holdsIn = (id: string, expectation: BisectExpectation): boolean => {
    const state = store.state(id);
    if (!state) throw new RefusedBisect("The log of one of these runs is not there any more.");
    return isMet(expectation, state);
  };
  const recorded = (id: string) => {
    const recording = recordingOf(store, id);
    if (!recording)
      throw new RefusedBisect(
        "One of these runs was made by another version of Troupe and cannot be replayed here.",
      );
    return recording;
  };
  return {
    /** Throws RefusedBisect, ExpressionError, DamagedLog. */
    async findDifference({ good, bad, expect }: BisectRequest): Promise<BisectReport> {
      const runs = [good, bad].map((id) => store.find(id));
      if (runs.some((run) => run?.status !== "finished"))
        throw new RefusedBisect("Both runs have to have ended before they can be searched.");
      const [one, other] = runs.map((run) => run?.workflow_id ?? null);
      if (good === bad || one !== other)
        throw new RefusedBisect(
          "Choose two runs of the same workflow: one that was good, and one that was not.",
        );
      const words = expectationInWords(expect);
      if (!holdsIn(good, expect))
        throw new RefusedBisect(`In the good run this does not hold: ${words}. Choose what was good in it.`);
      if (holdsIn(bad, expect))
        throw new RefusedBisect(`In the bad run this holds as well: ${words}. Choose what is wrong in it.`);
      return bisect(recorded(good), recorded(bad), expect, code);
    },
  };
}
