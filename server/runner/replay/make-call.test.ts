import { describe, expect, test } from "vitest";
import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { newRun } from "@/server/domain/run";
import type { Payloads } from "@/server/domain/run/events";
import type { PersonQuestion } from "../node/ports";
import { MODEL_CALL, makeCall } from "./make-call";
import { type Obstacle, obstacle } from "./recorded-answers";

type Answer = Payloads["interaction_answered"]["answer"];

/** Carries a call out: what was asked of the outside and of a person, and what came of it. */
function made(
  settled: readonly Settled[],
  {
    answer = "approve",
    approved = [],
    tool_name = "send",
    risk = false,
  }: { answer?: Answer; approved?: readonly string[]; tool_name?: string; risk?: boolean } = {},
) {
  const requests: [key: string, isAgreed: boolean, isRepeatable: boolean | undefined][] = [];
  const asked: [key: string, question: PersonQuestion][] = [];
  const request: StepRequest = { kind: "tool", again: "agree", asked: () => null };
  const state = newRun("r1");
  state.run.edition = 3;
  const flow = makeCall(
    {
      request(key, one, _work, isRepeatable) {
        requests.push([key, one.isAgreed ?? false, isRepeatable]);
        return { key };
      },
      *ask(key, question) {
        asked.push([key, question]);
        return { interaction_id: "i", answer, by: "ann" };
      },
      isApproved: (tool) => approved.includes(tool),
      s: state,
    },
    {
      key: "k",
      request,
      work: () => null,
      isRepeatable: true,
      question: { about: {}, tool_name, args: { to: "bob" }, ...(risk ? { risk: "HIGH" as const } : {}) },
    },
  );
  const come = () => {
    let step = flow.next();
    for (const result of settled) {
      if (step.done) break;
      step = flow.next({ key: "k", result, at: 0 });
    }
    if (!step.done) throw new Error("It still waits.");
    return step.value;
  };
  try {
    return { came: come() as unknown, requests, asked };
  } catch (error) {
    return { failed: error, requests, asked };
  }
}

const before: Obstacle = { why: "done_before", run: "r1", value: "as then" };
const never: Obstacle = { why: "not_recorded", run: "r1", difference: "It asks more." };
const stopped = (by: Obstacle): Settled => ({ ok: false, error: obstacle(by) });
const first: [string, boolean, boolean | undefined] = ["k", false, true];
const agreed: [string, boolean, boolean | undefined] = ["k/agreed", true, undefined];

describe("an unobstructed call", () => {
  test("an unobstructed call returns its value and names the run that supplied it", () => {
    expect(made([{ ok: true, value: 1 }])).toEqual({ came: { value: 1 }, requests: [first], asked: [] });
    expect(made([{ ok: true, value: 1, reused: "r0" }])).toEqual({
      came: { value: 1, reused: "r0" },
      requests: [first],
      asked: [],
    });
  });
  test("a repeated call needs nobody who is told of it", () => {
    expect(made([{ ok: true, value: 1, repeated: true }])).toMatchObject({ came: { value: 1 } });
  });
  test("an unobstructed call fails with its own error", () => {
    const { failed, asked } = made([{ ok: false, error: { name: "E", message: "no line" } }]);
    expect(failed).toMatchObject({ name: "StepFailed", error: { name: "E", message: "no line" } });
    expect(asked).toEqual([]);
  });
});

describe("a call that was made before", () => {
  const question = {
    about: {},
    kind: "tool_confirmation",
    title: "Call send again?",
    why: "The original run already made this call, and it may have had side effects. Approve to make it again; reject to continue with its recorded answer.",
    tool_name: "send",
    args: { to: "bob" },
  };
  test.each<[Answer]>([["approve"], ["approve_always"]])(
    "a call made before is repeated if a person approves it: %s",
    (answer) => {
      expect(made([stopped(before), { ok: true, value: "anew" }], { answer })).toEqual({
        came: { value: "anew" },
        requests: [first, agreed],
        asked: [["k/before", question]],
      });
    },
  );
  test.each<[Answer]>([["reject"], ["expired"]])(
    "a call made before returns its recorded answer without approval: %s",
    (answer) => {
      expect(made([stopped(before)], { answer, risk: true })).toEqual({
        came: { value: "as then", reused: "r1" },
        requests: [first],
        asked: [["k/before", { ...question, risk: "HIGH" }]],
      });
    },
  );
  test("a call made before asks even if its tool was approved for the whole run", () => {
    expect(made([stopped(before)], { answer: "reject", approved: ["send"] }).asked).toHaveLength(1);
  });
  test("a repeated call fails with its new error", () => {
    const { failed } = made([stopped(before), { ok: false, error: { name: "E", message: "broke" } }]);
    expect(failed).toMatchObject({ name: "StepFailed", error: { message: "broke" } });
  });
});

describe("a call that was never recorded", () => {
  test("an unrecorded call is made if a person approves it or approved its tool for the run", () => {
    const { came, requests, asked } = made([stopped(never), { ok: true, value: 2 }]);
    expect({ came, requests }).toEqual({ came: { value: 2 }, requests: [first, agreed] });
    expect(asked.map(([, { title, why }]) => [title, why])).toEqual([
      ["Call send?", "This replay has no recorded answer. It asks more. Approve to make the call."],
    ]);
    expect(made([stopped(never), { ok: true, value: 2 }], { approved: ["send"] })).toEqual({
      came: { value: 2 },
      requests: [first, agreed],
      asked: [],
    });
    expect(made([stopped(never), { ok: true, value: 2 }], { tool_name: MODEL_CALL }).asked[0]![1].title).toBe(
      "Call a model?",
    );
  });
  test.each<[Answer, string, string]>([
    ["reject", "HUMAN_REJECTED", "A person rejected a call that was not recorded. It asks more."],
    [
      "expired",
      "HUMAN_TIMEOUT",
      "No one answered in time whether to make a call that was not recorded, so it was not made. It asks more.",
    ],
  ])("an unrecorded call is not made without approval: %s", (answer, code, message) => {
    const { failed, requests } = made([stopped(never)], { answer });
    expect(requests).toEqual([first]);
    expect(failed).toMatchObject({
      name: "StepFailed",
      error: {
        name: "Declined",
        message,
        detail: { error: { code, message, retryable: false, user_action: "none" } },
      },
    });
  });
});
