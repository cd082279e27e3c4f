import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { modelAnswerFrom, toolOutputFrom } from "./read-result";

const answer: JsonObject = {
  content: "Hello",
  finish_reason: "stop",
  provider: "P",
  provider_id: "p",
  model: "m",
  simulated: false,
  usage: {
    input_tokens: 1,
    output_tokens: 2,
    cached_input_tokens: 0,
    reasoning_tokens: 0,
    requests: 1,
    estimated: false,
  },
  cost_usd: null,
  latency_ms: 3,
  something_new: ["kept"],
};

describe("a valid recorded answer", () => {
  test("a recorded model answer is returned unchanged, unknown fields included", () => {
    expect(modelAnswerFrom(answer)).toBe(answer);
  });
  test.each<[Json]>([
    [{ status_code: 200, output: { any: [1] } }],
    [{ status_code: 500, error: "no", tainted: true }],
    [{ status_code: 404 }],
  ])("a recorded tool output is returned unchanged: %j", (output) => {
    expect(toolOutputFrom(output)).toBe(output);
  });
});

describe("an invalid recorded answer", () => {
  const { content: _content, ...silent } = answer;
  test.each<[Json]>([
    [null],
    ["Hello"],
    [[answer]],
    [silent],
    [{ ...answer, cost_usd: "1" }],
    [{ ...answer, usage: {} }],
  ])("an invalid model answer is rejected: %j", (value) => {
    expect(() => modelAnswerFrom(value)).toThrow("The recorded answer of a model is invalid.");
  });
  test.each<[Json]>([[null], [{ output: 1 }], [{ status_code: "200" }], [{ status_code: 200, error: 7 }]])(
    "an invalid tool output is rejected: %j",
    (value) => {
      expect(() => toolOutputFrom(value)).toThrow("The recorded output of a tool is invalid.");
    },
  );
});
