import { describe, expect, test } from "vitest";
import type { Settled } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import {
  countRecorded,
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

describe("recorded answers of another run", () => {
  test("recorded answers are served in order to the same request, once each, without failures", () => {
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
    expect(answers.next("q")?.value).toBe("first");
    // Looked at and not asked: it is still there.
    expect(answers.next("q")?.value).toBe("first");
    answers.note("q");
    expect(answers.next("q")?.value).toBe("second");
    answers.note("q");
    expect([answers.next("q"), answers.next("p")?.value, answers.next("unknown"), reads]).toEqual([
      undefined,
      "other",
      undefined,
      1,
    ]);
  });

  test("runs further back in the lineage answer if the nearest run asked less often", () => {
    const answers = new RecordedAnswers("near", () => [
      answer(1, gave("near 1", "q")),
      { ...answer(1, gave("far 1", "q")), run: "far" },
      { ...answer(2, gave("far 2", "q")), run: "far" },
      { ...answer(1, gave("root 1", "q")), run: "root" },
      { ...answer(2, gave("root 2", "q")), run: "root" },
      { ...answer(3, gave("root 3", "q")), run: "root" },
    ]);
    const found = () => {
      const { run, value } = answers.next("q") ?? {};
      answers.note("q");
      return [run, value];
    };
    expect([found(), found(), found(), found()]).toEqual([
      ["near", "near 1"],
      ["far", "far 2"],
      ["root", "root 3"],
      [undefined, undefined],
    ]);
  });

  test("a call that required approval counts as a single answer, repeated or not", () => {
    const stopped = (value: Json): Settled => ({
      ok: false,
      error: obstacle({ why: "done_before", run: "root", value }),
      request: "q",
    });
    const answers = new RecordedAnswers("r", () => [
      { ...answer(1, stopped("then 1")), key: "a" },
      { ...answer(2, stopped("then 2")), key: "b" },
      { ...answer(3, gave("now", "q")), key: "b/agreed" },
      { ...answer(4, stopped("then 3")), key: "c" },
      { ...answer(5, stopped("then 3")), key: "c/agreed" },
      { ...answer(6, gave("later", "q")), key: "c/agreed2" },
    ]);
    const found = (request: string) => {
      const { result, value } = answers.next(request) ?? {};
      answers.note(request);
      return [result?.ok, value];
    };
    expect([found("q"), found("q"), found("q"), found("q")]).toEqual([
      [false, "then 1"],
      [false, "now"],
      [false, "later"],
      [undefined, undefined],
    ]);
    const agreed = "q/agreed";
    expect([found(agreed), found(agreed), found(agreed)]).toEqual([
      [true, "now"],
      [false, "then 3"],
      [true, "later"],
    ]);
    expect(countRecorded([{ ...answer(1, stopped("x")), key: "a" }, answer(2, gave("y", "p"))])).toBe(2);
  });

  test("requests settled before a resume count as served", () => {
    const answers = new RecordedAnswers("r", () => [1, 2, 3].map((k) => answer(k, gave(k, "q"))));
    const failed = (error: { name: string; message: string; detail?: Json }): Settled => ({
      ok: false,
      error,
      request: "q",
    });
    answers.noteSettled("a", gave("a", "q"));
    answers.noteSettled("b", failed({ name: "E", message: "no" }));
    answers.noteSettled("c", failed(obstacle({ why: "done_before", run: "r", value: null })));
    answers.noteSettled("c/agreed", gave("c", "q"));
    answers.noteSettled("d", gave("d"));
    expect(answers.next("q")?.value).toBe(3);
  });

  test("a request about the present is looked up again if the logs have grown", () => {
    const given = [answer(1, gave("one", "q"))];
    const answers = new RecordedAnswers(
      "r",
      () => given,
      undefined,
      undefined,
      () => given.length,
    );
    expect(answers.next("p", true)).toBeUndefined();
    given.push(answer(2, gave("two", "p")));
    expect([answers.next("p"), answers.next("p", true)?.value]).toEqual([undefined, "two"]);
  });

  test("a request is compared with recorded requests that were not served yet", () => {
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

  test("a run without recorded answers says so, and missing request texts give the usual message", () => {
    const none = new RecordedAnswers("r", () => [answer(1, gave("x"))]);
    const request = { kind: "model" as const, asked: "one" };
    const usual = "It calls a model, but no recorded call to a model is left.";
    // Nobody has looked yet.
    expect(none.difference(request).sentence).toBe(usual);
    none.next("one");
    expect(none.difference(request)).toEqual({
      kind: "model",
      nearest: null,
      changes: [],
      more: 0,
      sentence:
        "The original run predates the recording of requests or made no requests, so none of its answers can be reused.",
    });
    const some = new RecordedAnswers("r", () => [answer(1, gave("x", "q"))]);
    some.next("one");
    expect(some.difference(request).sentence).toBe(usual);
  });
});

describe("an unrecorded request in a strict replay", () => {
  const difference = new RecordedAnswers("r", () => []).difference({ kind: "tool", asked: { tool: "look" } });
  const failed = (error: { name: string; message: string; detail?: Json }): Settled => ({ ok: false, error });
  const error = notRecorded(difference);

  test("an unrecorded request ends a strict replay with an error that describes it", () => {
    expect(missIn(failed(error))).toEqual({
      code: "NOT_RECORDED",
      message:
        "This strict replay reached a call that was never recorded. Strict replays make no new calls. It calls the tool look, but no recorded call to a tool is left.",
      retryable: false,
      user_action: "none",
      detail: difference,
    });
  });

  test("other answers are not taken for an unrecorded request", () => {
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

describe("an obstacle to a call until a person approves", () => {
  const before: Obstacle = { why: "done_before", run: "r", value: { a: 1 } };
  const never: Obstacle = { why: "not_recorded", run: "r", difference: "It asks more." };
  test("an obstacle is read back as it was stored", () => {
    expect([obstacle(before).message, obstacle(never).message]).toEqual([
      "This call was made before.",
      "This was never requested before.",
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
    ["a string", "r"],
    ["null", null],
    ["a list", [{ why: "done_before", run: "r" }]],
    ["no run", { why: "done_before", value: 1 }],
    ["another reason", { why: "tired", run: "r", difference: "x" }],
    ["no text", { why: "not_recorded", run: "r" }],
  ])("a failure whose detail has %s is not an obstacle", (_what, detail) => {
    expect(
      obstacleOf({ name: "NeedsAgreement", message: "", ...(detail === undefined ? {} : { detail }) }),
    ).toBeNull();
  });
  test("a failure of another name is not an obstacle", () => {
    expect(obstacleOf({ ...obstacle(before), name: "Error" })).toBeNull();
  });
});
