import { expect, test } from "vitest";
import { RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import { SIZES } from "@/server/domain/base/sizes";
import { foldRun } from "@/server/domain/run";
import type { PeopleRules } from "@/server/domain/run/events";
import { RULES_NOW, USUAL_PEOPLE } from "@/server/domain/run/questions/question-times";
import { draw } from "@/server/domain/testing/drawing";
import {
  limitError,
  limitQuestion,
  limitsAskEverywhere,
  limitValue,
  mayRaise,
  openLimitQuestion,
  raisedNow,
  raisedTo,
} from "./limits";

const NOW: PeopleRules = { ...USUAL_PEOPLE, ...RULES_NOW };
/** A run with these settings; one from before has no rules about people. */
const runWith = (config: object, people: PeopleRules | null = NOW) =>
  foldRun("run_1", [
    {
      type: "run_created",
      seq: 1,
      ts: 0,
      payload: {
        graph: draw("start > end"),
        roles: [],
        workflow_id: null,
        workflow_name: "Test",
        input: {},
        config: RunConfig.parse(config),
        trigger: "test",
        provider_summary: null,
        ...(people ? { people } : {}),
      },
    },
  ]);
const budget = (limit: string, of: number) => ({ budget: { [limit]: of } });

test("every limit asks, except in runs of older versions", () => {
  expect([NOW, USUAL_PEOPLE, null].map((people) => limitsAskEverywhere(runWith({}, people)))).toEqual([
    true,
    "limits_ask" in USUAL_PEOPLE,
    false,
  ]);
});

test.each<[RaisableLimit, object, object]>([
  [
    "max_steps",
    { max_steps: 2 },
    { type: "integer", title: "New limit, in node runs", exclusiveMinimum: 2, maximum: 5000, default: 4 },
  ],
  [
    "max_steps",
    { max_steps: 2500 },
    {
      type: "integer",
      title: "New limit, in node runs",
      exclusiveMinimum: 2500,
      maximum: 5000,
      default: 5000,
    },
  ],
  [
    "max_steps",
    { max_steps: 2501 },
    {
      type: "integer",
      title: "New limit, in node runs",
      exclusiveMinimum: 2501,
      maximum: 5000,
      default: 5000,
    },
  ],
  [
    "max_global_iterations",
    { max_global_iterations: 1 },
    { type: "integer", title: "New limit, in model calls", exclusiveMinimum: 1, maximum: 2000, default: 2 },
  ],
  [
    "max_active_ms",
    { max_active_ms: 1500 },
    {
      type: "integer",
      title: "New limit, in seconds of active time",
      exclusiveMinimum: 1.5,
      maximum: 86_400,
      default: 3,
    },
  ],
  [
    "max_active_ms",
    { max_active_ms: 700 },
    {
      type: "integer",
      title: "New limit, in seconds of active time",
      exclusiveMinimum: 0.7,
      maximum: 86_400,
      default: 2,
    },
  ],
  [
    "max_log_chars",
    { max_log_chars: 10_000 },
    {
      type: "integer",
      title: "New limit, in characters",
      exclusiveMinimum: 10_000,
      maximum: SIZES.log.most,
      default: 20_000,
    },
  ],
  [
    "max_cost_usd",
    budget("max_cost_usd", 0.25),
    { type: "number", title: "New limit, in US dollars", exclusiveMinimum: 0.25, default: 0.5 },
  ],
  [
    "max_cost_usd",
    budget("max_cost_usd", 0),
    { type: "number", title: "New limit, in US dollars", exclusiveMinimum: 0, default: 1 },
  ],
  [
    "max_total_tokens",
    budget("max_total_tokens", 300),
    {
      type: "integer",
      title: "New limit, in tokens",
      exclusiveMinimum: 300,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 600,
    },
  ],
])("the question about %s with %j proposes twice the limit, up to its maximum", (limit, config, to) => {
  const s = runWith(config);
  const { maximum, ...field } = to as { maximum?: number };
  expect(limitQuestion(limit, s, "At a limit")).toEqual({
    kind: "budget",
    title: "At a limit",
    why: limitError(limit, s).message,
    args: { limit, now: limitValue(limit, s) },
    options: [
      { label: "Raise the limit", value: "raise" },
      { label: "Stop here", value: "stop" },
    ],
    response_schema: {
      type: "object",
      properties: { to: maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? field : to },
    },
  });
});

test("a limit at its maximum offers no raise, and other options come before stopping", () => {
  const { options } = limitQuestion("max_steps", runWith({ max_steps: 5000 }), "At a limit", [
    { label: "Continue with less", value: "less" },
  ]);
  expect(options).toEqual([
    { label: "Continue with less", value: "less" },
    { label: "Stop here", value: "stop" },
  ]);
  expect([mayRaise("max_steps", 5000), mayRaise("max_steps", 4999), mayRaise("max_cost_usd", 1e6)]).toEqual([
    false,
    true,
    true,
  ]);
});

test.each<[RaisableLimit, object, object]>([
  ["max_active_ms", { max_active_ms: 1500 }, { type: "integer", exclusiveMinimum: 1500, default: 3000 }],
  ["max_cost_usd", budget("max_cost_usd", 0.5), { type: "number", exclusiveMinimum: 0.5, default: 1 }],
  ["max_total_tokens", budget("max_total_tokens", 0), { type: "integer", exclusiveMinimum: 0, default: 1 }],
])("a run of an older version asks for %s in the limit's own unit", (limit, config, field) => {
  expect(limitQuestion(limit, runWith(config, null), "").response_schema).toEqual({
    type: "object",
    properties: { to: { title: "New limit", ...field } },
  });
});

const chosen = { answer: "chosen", option: "raise" } as const;
test.each<[string, Parameters<typeof raisedTo>[0], RaisableLimit, object, PeopleRules | null, number | null]>(
  [
    ["the entered value is used", { ...chosen, value: { to: 7 } }, "max_steps", { max_steps: 2 }, NOW, 7],
    [
      "entered seconds are converted to milliseconds",
      { ...chosen, value: { to: 7 } },
      "max_active_ms",
      { max_active_ms: 2000 },
      NOW,
      7000,
    ],
    [
      "a run of an older version takes the value in milliseconds",
      { ...chosen, value: { to: 7000 } },
      "max_active_ms",
      { max_active_ms: 2000 },
      null,
      7000,
    ],
    ["a missing value doubles the limit", chosen, "max_steps", { max_steps: 2 }, NOW, 4],
    [
      "a text value doubles the limit",
      { ...chosen, value: { to: "7" } },
      "max_steps",
      { max_steps: 2 },
      NOW,
      4,
    ],
    ["an invalid value doubles the limit", { ...chosen, value: [7] }, "max_steps", { max_steps: 2 }, NOW, 4],
    ["a missing value raises a limit of 0 to 1", chosen, "max_cost_usd", budget("max_cost_usd", 0), NOW, 1],
    ["a doubled limit stops at its maximum", chosen, "max_steps", { max_steps: 4000 }, NOW, 5000],
    [
      "the option to stop raises nothing",
      { answer: "chosen", option: "stop", value: { to: 7 } },
      "max_steps",
      { max_steps: 2 },
      NOW,
      null,
    ],
    [
      "an expired question raises nothing",
      { answer: "expired", option: "raise" },
      "max_steps",
      { max_steps: 2 },
      NOW,
      null,
    ],
  ],
)("%s", (_name, answered, limit, config, people, to) => {
  expect(raisedTo(answered, limit, runWith(config, people))).toBe(to);
});

test("a limit raised elsewhere answers the question with its new value, in the question's unit", () => {
  const s = runWith({ max_steps: 9, max_active_ms: 2500 });
  expect(RaisableLimit.options.map((limit) => raisedNow(limit, s, "ann"))).toEqual(
    [9, 100, 2.5, SIZES.log.standard, 0, 0].map((to) => ({
      answer: "chosen",
      option: "raise",
      value: { to },
      by: "ann",
    })),
  );
});

test("each limit has a value, an error code and a message", () => {
  const s = runWith({
    max_steps: 9,
    max_global_iterations: 8,
    max_active_ms: 2600,
    max_log_chars: 20_000,
    budget: { max_cost_usd: 0.5, max_total_tokens: 70 },
  });
  expect(
    RaisableLimit.options.map((limit) => [
      limitValue(limit, s),
      limitError(limit, s).code,
      limitError(limit, s).message,
    ]),
  ).toEqual([
    [9, "MAX_STEPS", "The run reached its limit of 9 node executions. Raise the limit to continue."],
    [8, "MAX_ITERATIONS", "The run reached its limit of 8 model calls. Raise the limit to continue."],
    [2600, "TIME_LIMIT", "The run reached its limit of 3 s of active time. Raise the limit to continue."],
    [
      20_000,
      "LOG_LIMIT",
      "The run reached its log limit of 20,000 characters. Raise the limit to continue, or store less data in its nodes.",
    ],
    [0.5, "BUDGET", "The next model call could exceed the budget of $0.5. Raise the budget to continue."],
    [70, "BUDGET", "The next model call could exceed the budget of 70 tokens. Raise the budget to continue."],
  ]);
  expect([limitValue("max_cost_usd", runWith({})), limitValue("max_total_tokens", runWith({}))]).toEqual([
    null,
    null,
  ]);
  expect(limitError("max_steps", s)).toEqual({
    code: "MAX_STEPS",
    message: "The run reached its limit of 9 node executions. Raise the limit to continue.",
    retryable: true,
    user_action: "raise_limit",
  });
});

test.each([
  ["about the same limit", "open", "budget", { limit: "max_steps" }, true],
  ["about another limit", "open", "budget", { limit: "max_cost_usd" }, false],
  ["of another kind", "open", "approval", { limit: "max_steps" }, false],
  ["about no limit", "open", "budget", undefined, false],
  ["that was answered", "answered", "budget", { limit: "max_steps" }, false],
])("a question %s counts as open for the limit: %s", (_what, status, kind, args, found) => {
  const s = runWith({});
  const question = { id: "q", status, requested: { kind, ...(args ? { args } : {}) } };
  Object.assign(s.interactions, { q: question });
  expect(openLimitQuestion(s, "max_steps")).toBe(found ? question : undefined);
});
