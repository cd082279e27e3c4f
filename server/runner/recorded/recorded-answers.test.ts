import { describe, expect, test } from "vitest";
import type { Settled } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import {
  missIn,
  notRecorded,
  type Obstacle,
  obstacle,
  obstacleOf,
  RecordedAnswers,
} from "./recorded-answers";

const answer = (turn: number, result: Settled) => ({ key: `k${turn}`, turn, at: turn, result });
const gave = (value: Json, request?: string): Settled => ({
  ok: true,
  value,
  ...(request === undefined ? {} : { request }),
});
const asked = (text: string) => ({ kind: "model" as const, asked: text, request: text });

describe("the answers of another run", () => {
  test("are given in their order to the same request, once each, and failures are none", () => {
    let reads = 0;
    const answers = new RecordedAnswers("r", () => {
      reads++;
      return [
        answer(1, gave("first", "q")),
        answer(2, { ok: false, error: { name: "E", message: "no" }, request: "q" }),
        answer(3, gave("nobody's")),
        answer(4, gave("second", "q")),
        answer(5, gave("other", "p")),
      ];
    });
    expect(reads).toBe(0);
    expect(answers.next("q")?.turn).toBe(1);
    // Looked at and not asked: it is still there.
    expect(answers.next("q")?.turn).toBe(1);
    answers.note("q");
    expect(answers.next("q")?.turn).toBe(4);
    answers.note("q");
    expect([answers.next("q"), answers.next("p")?.turn, answers.next("unknown"), reads]).toEqual([
      undefined,
      5,
      undefined,
      1,
    ]);
  });

  test("what a request asks is laid beside those that were not asked yet", () => {
    const answers = new RecordedAnswers(
      "r",
      () => [answer(1, gave("x", "one"))],
      undefined,
      () => [asked("one"), asked("one"), asked("two")],
    );
    const nearest = () => answers.difference({ kind: "model", asked: "one" }).nearest;
    const beside = () => answers.difference({ kind: "model", asked: "one" }).changes;
    expect([nearest(), beside()]).toEqual([0, []]);
    answers.note("one");
    expect([nearest(), beside()]).toEqual([0, []]);
    answers.note("one");
    expect(beside()).toEqual([{ path: "", recorded: "two", asked: "one" }]);
    answers.note("two");
    expect(nearest()).toBeNull();
  });

  test("where nothing at all was recorded, that is said; where only the words are gone, the usual is", () => {
    const none = new RecordedAnswers("r", () => [answer(1, gave("x"))]);
    const request = { kind: "model" as const, asked: "one" };
    const usual = "It asks a model, and no recorded call of a model is left.";
    // Nobody has looked yet.
    expect(none.difference(request).sentence).toBe(usual);
    none.next("one");
    expect(none.difference(request)).toEqual({
      kind: "model",
      nearest: null,
      changes: [],
      more: 0,
      sentence:
        "The run that is replayed was made before requests were recorded, or asked nothing: none of its answers can be found again.",
    });
    const some = new RecordedAnswers("r", () => [answer(1, gave("x", "q"))]);
    some.next("one");
    expect(some.difference(request).sentence).toBe(usual);
  });
});

describe("what a strict replay was asked that nobody recorded", () => {
  const difference = new RecordedAnswers("r", () => []).difference({ kind: "tool", asked: { tool: "look" } });
  const failed = (error: { name: string; message: string; detail?: Json }): Settled => ({ ok: false, error });
  const error = notRecorded(difference);

  test("is a failure that ends the run, with what it asked", () => {
    expect(missIn(failed(error))).toEqual({
      code: "NOT_RECORDED",
      message:
        "This strict replay came to a call that was never recorded, and makes none. It asks the tool look, and no recorded call of a tool is left.",
      retryable: false,
      user_action: "none",
      detail: difference,
    });
  });

  test("is not found in other answers", () => {
    expect(missIn(gave(error.message))).toBeUndefined();
    expect(missIn(failed({ ...error, name: "Error" }))).toBeUndefined();
    expect(missIn(failed({ name: "NotRecorded", message: "" }))).toBeUndefined();
    expect(
      missIn(
        failed({
          ...error,
          detail: { error: { code: "CONFIG", message: "x", retryable: false, user_action: "none" } },
        }),
      ),
    ).toBeUndefined();
  });
});

describe("what stands in the way of a call until a person agrees", () => {
  const before: Obstacle = { why: "done_before", run: "r", value: { a: 1 } };
  const never: Obstacle = { why: "not_recorded", run: "r", difference: "It asks more." };
  test("is read again as it was told", () => {
    expect([obstacle(before).message, obstacle(never).message]).toEqual([
      "This call was made before.",
      "This was never asked before.",
    ]);
    expect([obstacleOf(obstacle(before)), obstacleOf(obstacle(never))]).toEqual([before, never]);
    expect(
      obstacleOf({ name: "NeedsAgreement", message: "", detail: { why: "done_before", run: "r" } }),
    ).toEqual({
      why: "done_before",
      run: "r",
      value: null,
    });
  });
  test.each<[string, Json | undefined]>([
    ["nothing", undefined],
    ["no object", "r"],
    ["null", null],
    ["a list", [{ why: "done_before", run: "r" }]],
    ["no run", { why: "done_before", value: 1 }],
    ["another reason", { why: "tired", run: "r", difference: "x" }],
    ["no words", { why: "not_recorded", run: "r" }],
  ])("is not found in the detail of a failure that has %s", (_what, detail) => {
    expect(
      obstacleOf({ name: "NeedsAgreement", message: "", ...(detail === undefined ? {} : { detail }) }),
    ).toBeNull();
  });
  test("is not found in another failure", () => {
    expect(obstacleOf({ ...obstacle(before), name: "Error" })).toBeNull();
  });
});
