import { describe, expect, test } from "vitest";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "../testing";
import { newBisector } from "./find-difference";

const drawing = draw("start > a > end", { a: { config: { set: { a: "state.n" } } } });
const code = { matches: () => Promise.resolve(null), runCode: () => Promise.resolve(null) };
const state = (when: string): RuleExpectation => ({ kind: "state", when });

/** Two runs that ended, of which `a` is 1 in the first and 2 in the second. */
async function stored() {
  const stage = newStage();
  const run = async (n: number, workflow = "wf") => (await stage.run(drawing, { input: { n }, workflow })).id;
  const [good, bad, other] = [await run(1), await run(2), await run(3, "wf_other")];
  const store: Parameters<typeof newBisector>[0] = {
    find: (id) => stage.store.find(id),
    events: (id, from, most) => stage.store.events(id, from, most),
    journal: (id) => stage.store.journal(id),
  };
  const find = (expect: RuleExpectation, runs: [string, string] = [good, bad], of = store) =>
    newBisector(of, code).findDifference({ good: runs[0], bad: runs[1], expect });
  return { stage, store, good, bad, other, find };
}

test("the difference between two stored runs is found", async () => {
  const { find } = await stored();
  expect(await find(state("state.a == 1"))).toEqual({
    verdict: "found",
    step: 0,
    sentence:
      "Input makes the difference: the expectation passes with the good run's value and fails with the bad run's.",
    differences: [{ kind: "input", title: "Input", good: '{"n":1}', bad: '{"n":2}' }],
    tries: [
      { from_good: 0, outcome: "fails", why: "Completed." },
      { from_good: 1, outcome: "holds", why: "Completed." },
    ],
  });
});

describe("runs that can't be compared", () => {
  const same = "Choose a good and a bad run of the same workflow.";
  test("comparing a run with itself or with a run of another workflow is rejected", async () => {
    const { find, good, other } = await stored();
    await expect(find(state("state.a == 1"), [good, good])).rejects.toThrow(same);
    await expect(find(state("state.a == 1"), [good, other])).rejects.toThrow(same);
  });

  test("comparing an unfinished or missing run is rejected", async () => {
    const { find, good, stage } = await stored();
    const waiting = stage.start(draw("start > w > end", { w: { config: { ms: 60_000 } } }), {
      workflow: "wf",
    });
    const why = "Both runs must be finished.";
    await expect(find(state("state.a == 1"), [good, waiting])).rejects.toThrow(why);
    await expect(find(state("state.a == 1"), [waiting, good])).rejects.toThrow(why);
    await expect(find(state("state.a == 1"), [good, "run_gone"])).rejects.toThrow(why);
    stage.host.cancel(waiting, { by: "ann", reason: "" });
    await stage.host.settled(waiting);
  });

  test("a condition that is false for the good run or true for both runs is rejected", async () => {
    const { find } = await stored();
    await expect(find(state("state.a == 2"))).rejects.toThrow(/^This isn't true in the good run\. .+/);
    await expect(find(state("state.a < 9"))).rejects.toThrow(/^This is also true in the bad run\. .+/);
  });

  test("a condition that can't be parsed is rejected", async () => {
    const { find } = await stored();
    await expect(find(state("state.a =="))).rejects.toMatchObject({ name: "ExpressionError" });
  });

  test("a run with a missing log or another version is rejected", async () => {
    const { find, store, good, bad } = await stored();
    await expect(find(state("state.a == 1"), [good, bad], { ...store, events: () => [] })).rejects.toThrow(
      "The log of one of these runs no longer exists.",
    );
    await expect(
      find(state("state.a == 1"), [good, bad], {
        ...store,
        journal: (id) => ({ ...store.journal(id), version: 0 }),
      }),
    ).rejects.toThrow(
      "One of these runs was created by another version of Troupe and can't be replayed here.",
    );
  });
});
