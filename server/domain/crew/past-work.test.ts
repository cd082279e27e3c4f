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

describe("who does a task that names nobody", () => {
  test("whose role's words fit it best, whatever the past says", () => {
    const chosen = whoIsChosen([
      member("ann", { past: past("ann", counts(50)) }),
      member("bob", { fits: 2, past: past("bob", counts(1, 49)) }),
    ]);
    expect(chosen).toEqual({ agent_id: "bob", why: "its role matches the task best" });
  });

  test("of those that fit alike, whose earlier work came to nothing less often", () => {
    const chosen = whoIsChosen([
      member("ann", { past: past("ann", counts(6, 4)) }),
      member("bob", { past: past("bob", counts(9, 1, 1)) }),
    ]);
    expect(chosen).toEqual({
      agent_id: "bob",
      why: "it matches as well as ann, and in earlier runs less of its work failed or was sent back: 2 of 10 compared to 4 of 10",
    });
  });

  test("failures of this run count before those of earlier runs", () => {
    const chosen = whoIsChosen([
      member("ann", { failed: 1, past: past("ann", counts(50)) }),
      member("bob", { past: past("bob", counts(9, 1)) }),
    ]);
    expect(chosen).toEqual({
      agent_id: "bob",
      why: "it matches as well as ann, and failed less often in this run",
    });
  });

  test("one bad luck decides nothing: too little past work is no past", () => {
    const few = counts(ENOUGH_WORK - 2, 1);
    expect(whoIsChosen([member("ann", { past: past("ann", few) }), member("bob")])).toEqual({
      agent_id: "ann",
      why: "it matches as well as bob, and comes first in the crew",
    });
  });

  test("who has too little past of its own is judged by that of its role", () => {
    const role = counts(2, 8);
    expect(
      whoIsChosen([
        member("ann", { past: past("ann", counts(1), role) }),
        member("bob", { past: past("bob", counts(9, 1)) }),
      ])?.agent_id,
    ).toBe("bob");
  });

  test("nobody where no role has a word of the task; no reason where there is no choice", () => {
    expect(whoIsChosen([member("ann", { fits: 0 })])).toBeUndefined();
    expect(whoIsChosen([member("ann")])).toEqual({ agent_id: "ann" });
  });

  test("the choice hangs on the members, not on chance: the same whenever it is made, and always one of the best", () => {
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

test("the past in words: of its own, else of others of its role, else nothing", () => {
  expect(describePastWork(past("ann", counts(12, 1, 2), counts(40, 3)))).toBe(
    "ann: 12 done, 1 failed, 2 sent back",
  );
  expect(describePastWork(past("ann", undefined, counts(40, 3)))).toBe(
    "ann: no work yet; all of the role Writer: 40 done, 3 failed, 0 sent back",
  );
});
