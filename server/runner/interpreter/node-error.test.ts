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
    "a node failure keeps its code and message",
    new NodeFailure("TOOL_FAILED", "It broke.", { retryable: true, user_action: "retry", detail: 1 }),
    a,
    { code: "TOOL_FAILED", message: "It broke.", retryable: true, user_action: "retry", detail: 1 },
  ],
  [
    "a step failure is reported with its recorded error",
    failed("ModelError", "x", { error: recorded }),
    a,
    recorded,
  ],
  [
    "an oversized answer requires an edit of the workflow",
    failed("OversizedAnswer", "Too large."),
    a,
    { code: "TOO_LARGE", message: "Too large.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a step that timed out can be retried",
    failed("TimeoutError", "Too late."),
    a,
    { code: "TIMEOUT", message: "Too late.", retryable: true, user_action: "retry" },
  ],
  [
    "a step failure with a Troupe error keeps its message",
    failed("DamagedLog", "It is damaged."),
    a,
    knownError("It is damaged."),
  ],
  [
    "a step failure with a JavaScript error is internal",
    failed("TypeError", "x is not a function"),
    a,
    inside("Write", "TypeError: x is not a function"),
  ],
  [
    "an unnamed node is referred to by its node ID",
    failed("TypeError", "x"),
    unnamed,
    inside("a", "TypeError: x"),
  ],
  [
    "an invalid error detail is ignored",
    failed("Error", "x", { error: { code: "?" } }),
    a,
    inside("Write", "Error: x"),
  ],
  [
    "an unexpected error counts as internal",
    new RangeError("too deep"),
    a,
    inside("Write", "RangeError: too deep"),
  ],
  [
    "an unexpected error of an unnamed node is internal and names its ID",
    new RangeError("too deep"),
    unnamed,
    inside("a", "RangeError: too deep"),
  ],
  ["a thrown value that is not an error is internal", "words", a, inside("Write", ": words")],
  [
    "a failed expression requires an edit of the workflow",
    named("ExpressionError", "There is no x."),
    a,
    { code: "CONFIG", message: "Write: There is no x.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a failed template requires an edit of the workflow",
    named("TemplateError", "There is no x."),
    unnamed,
    { code: "CONFIG", message: "a: There is no x.", retryable: false, user_action: "edit_graph" },
  ],
  [
    "a router whose condition fails reports that it could not decide",
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
