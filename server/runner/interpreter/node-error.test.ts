import { expect, test } from "vitest";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { draw } from "@/server/domain/testing/drawing";
import { StepFailed } from "../node/flow";
import { toRunError } from "./node-error";

const { nodes } = draw("start > a > r; r yes> end", { a: { name: "Write" } });
const a = must(nodes, "a");
const unnamed = { ...a, name: "" };
const failed = (name: string, message: string, detail?: Json) =>
  new StepFailed({ name, message, ...(detail === undefined ? {} : { detail }) });
const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const inside = (what: string, errorText: string) => ({
  code: "INTERNAL",
  message: expect.stringMatching(
    new RegExp(
      `^${what} failed: an internal Troupe error \\([0-9a-f]{8}\\)\\. Search the server's log for this code\\.$`,
    ),
  ) as string,
  retryable: false,
  user_action: "none",
  detail: { mark: expect.stringMatching(/^[0-9a-f]{8}$/) as string, fault: errorText },
});
const knownError = (message: string) => ({
  code: "INTERNAL",
  message,
  retryable: false,
  user_action: "none",
});
const recorded = { code: "AUTH", message: "No key.", retryable: false, user_action: "settings" };

test.each<[string, unknown, typeof a, unknown]>([
  [
    "a node's own failure is told as it says",
    new NodeFailure("TOOL_FAILED", "It broke.", { retryable: true, user_action: "retry", detail: 1 }),
    a,
    { code: "TOOL_FAILED", message: "It broke.", retryable: true, user_action: "retry", detail: 1 },
  ],
  [
    "a step's failure is told as the step told it",
    failed("ModelError", "x", { error: recorded }),
    a,
    recorded,
  ],
  [
    "an answer that is too large is for whoever draws",
    failed("OversizedAnswer", "Too large."),
    a,
    { code: "TOO_LARGE", message: "Too large.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a step that took too long may be tried again",
    failed("TimeoutError", "Too late."),
    a,
    { code: "TIMEOUT", message: "Too late.", retryable: true, user_action: "retry" },
  ],
  [
    "a step's failure in our words is told in them",
    failed("DamagedLog", "It is damaged."),
    a,
    knownError("It is damaged."),
  ],
  [
    "a step's failure in the platform's words is ours",
    failed("TypeError", "x is not a function"),
    a,
    inside("Write", "TypeError: x is not a function"),
  ],
  [
    "a node without a name is called by its id",
    failed("TypeError", "x"),
    unnamed,
    inside("a", "TypeError: x"),
  ],
  [
    "a detail that is no error of ours does not count",
    failed("Error", "x", { error: { code: "?" } }),
    a,
    inside("Write", "Error: x"),
  ],
  [
    "an error that nobody foresaw is ours",
    new RangeError("too deep"),
    a,
    inside("Write", "RangeError: too deep"),
  ],
  [
    "one of a node without a name as well",
    new RangeError("too deep"),
    unnamed,
    inside("a", "RangeError: too deep"),
  ],
  ["what is thrown and no error is ours", "words", a, inside("Write", ": words")],
  [
    "an expression that fails is for whoever draws",
    named("ExpressionError", "There is no x."),
    a,
    { code: "CONFIG", message: "Write: There is no x.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a template that fails is for whoever draws",
    named("TemplateError", "There is no x."),
    unnamed,
    { code: "CONFIG", message: "a: There is no x.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a router whose condition fails could not decide",
    named("ExpressionError", "There is no x."),
    must(nodes, "r"),
    {
      code: "ROUTER_FAILED",
      message: "r could not decide: There is no x.",
      retryable: false,
      user_action: "edit_graph",
    },
  ],
])("%s", (_name, error, node, expected) => {
  expect(toRunError(error, node)).toEqual(expected);
});
