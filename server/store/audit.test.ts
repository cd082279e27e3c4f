import { expect, test } from "vitest";
import { openDb } from "@/db/open";
import { newAuditStore } from "./audit";

test("entries are added and read, the newest first, by kind and in pages", () => {
  let at = 0;
  const audit = newAuditStore(openDb(":memory:"), () => ++at);
  const denied = audit.append({ kind: "tool_denied", who: "run_1/coder", detail: { tool: "http_write" } });
  audit.append({ kind: "secret_changed", who: "session" });
  audit.append({ kind: "tool_denied", who: "run_2/coder", detail: { tool: "file_write" } });
  expect(audit.list().map(({ kind, at }) => [kind, at])).toEqual([
    ["tool_denied", 3],
    ["secret_changed", 2],
    ["tool_denied", 1],
  ]);
  const [newest] = audit.list({ kind: "tool_denied", limit: 1 });
  expect(newest).toMatchObject({ who: "run_2/coder", detail: { tool: "file_write" } });
  expect(audit.list({ kind: "tool_denied", before: newest!.id })).toEqual([denied]);
});

test("there is no way to change or remove an entry", () => {
  expect(Object.keys(newAuditStore(openDb(":memory:"))).sort()).toEqual(["append", "list"]);
});
