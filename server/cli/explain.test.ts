import { expect, test } from "vitest";
import { callWorkflow } from "./testing";

test("explain prints the meaning, cause and fix of a code and rejects unknown codes", async () => {
  const { code, out } = await callWorkflow(["explain", "context_overflow"], ".");
  expect(code).toBe(0);
  expect(out).toMatch(/^CONTEXT_OVERFLOW: .+\n\nCause: .+\nFix: .+\n$/);
  expect(await callWorkflow(["explain", "NOPE"], ".")).toMatchObject({ code: 2, out: "" });
  expect((await callWorkflow(["explain", "CONTEXT_OVERFLWO"], ".")).err).toContain(
    "Did you mean CONTEXT_OVERFLOW?",
  );
  expect((await callWorkflow(["explain"], ".")).out).toContain("explain CODE");
});
