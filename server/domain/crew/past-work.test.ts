import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describePastWork, ENOUGH_WORK, type PastCounts, type Standing, whoIsChosen } from "./past-work";

const counts = (done: number, failed = 0, sent_back = 0): PastCounts => ({ done, failed, sent_back });
const member = (agent_id: string, more: Partial<Standing> = {}): Standing => ({
  agent_id,
  fits: 1,
  failed: 0,
  at_work: 0,
  given: 0,
  ...more,
});
const past = (agent_id: string, own?: PastCounts, role?: PastCounts) => ({
  node_id: "crew",
  agent_id,
  role_name: "Writer",
  ...(own ? { own } : {}),
  ...(role ? { role } : {}),
});

describe("the agent for an unassigned task", () => {
  test("the agent whose role matches best is chosen, whatever its past work", () => {
    const chosen = whoIsChosen([
      member("ann", { past: past("ann", counts(50)) }),
      member("bob", { fits: 2, past: past("bob", counts(1, 49)) }),
    ]);
    expect(chosen).toEqual({ agent_id: "bob", why: "its role matches the task best" });
  });

  test("among equal matches, the agent with the lower failure rate is chosen", () => {
    const chosen = whoIsChosen([
      member("ann", { past: past("ann", counts(6, 4)) }),
      member("bob", { past: past("bob", counts(9, 1, 1)) }),
    ]);
    expect(chosen).toEqual({
      agent_id: "bob",
      why: "it matches as well as ann, and in earlier runs less of its work failed or was sent back: 2 of 10 compared to 4 of 10",
    });
  });

  test("failures in this run outweigh failures in earlier runs", () => {
    const chosen = whoIsChosen([
      member("ann", { failed: 1, past: past("ann", counts(50)) }),
      member("bob", { past: past("bob", counts(9, 1)) }),
    ]);
    expect(chosen).toEqual({
      agent_id: "bob",
      why: "it matches as well as ann, and failed less often in this run",
    });
  });

  test("too little past work is ignored", () => {
    const few = counts(ENOUGH_WORK - 2, 1);
    expect(whoIsChosen([member("ann", { past: past("ann", few) }), member("bob")])).toEqual({
      agent_id: "ann",
      why: "it matches as well as bob, and comes first in the crew",
    });
  });

  test("an agent with too little past work is judged by its role's record", () => {
    const role = counts(2, 8);
    expect(
      whoIsChosen([
        member("ann", { past: past("ann", counts(1), role) }),
        member("bob", { past: past("bob", counts(9, 1)) }),
      ])?.agent_id,
    ).toBe("bob");
  });

  test("no agent is chosen without a match, and a sole candidate has no reason", () => {
    expect(whoIsChosen([member("ann", { fits: 0 })])).toBeUndefined();
    expect(whoIsChosen([member("ann")])).toEqual({ agent_id: "ann" });
  });

  test("the choice is deterministic and always among the best matches", () => {
    const some = fc.record({ done: fc.nat(20), failed: fc.nat(20), sent_back: fc.nat(5) });
    const crew = fc.array(fc.record({ fits: fc.nat(2), own: fc.option(some, { nil: undefined }) }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(crew, (made) => {
        const members = made.map(({ fits, own }, at) =>
          member(`m${at}`, { fits, past: past(`m${at}`, own) }),
        );
        const chosen = whoIsChosen(members);
        const best = Math.max(...made.map(({ fits }) => fits));
        const fitOf = members.find(({ agent_id }) => agent_id === chosen?.agent_id)?.fits;
        expect(fitOf).toBe(best === 0 ? undefined : best);
        expect(whoIsChosen(structuredClone(members))).toEqual(chosen);
      }),
    );
  });
});

test("past work is described for the agent, or else for its role", () => {
  expect(describePastWork(past("ann", counts(12, 1, 2), counts(40, 3)))).toBe(
    "ann: 12 done, 1 failed, 2 sent back",
  );
  expect(describePastWork(past("ann", undefined, counts(40, 3)))).toBe(
    "ann: no work yet; all of the role Writer: 40 done, 3 failed, 0 sent back",
  );
});
