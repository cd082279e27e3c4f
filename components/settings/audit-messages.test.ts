import { expect, test } from "vitest";
import { AUDIT_KINDS } from "@/server/domain/run/audit";
import { describeActor, describeAuditEntry, runPlace } from "./audit-messages";

test("every audit kind has a readable title, even if details are missing", () => {
  for (const kind of Object.keys(AUDIT_KINDS)) {
    const { title } = describeAuditEntry({ kind, detail: {} });
    expect(title).toMatch(/^[A-Z]/);
    expect(title).not.toMatch(/undefined|null|_/);
  }
  expect(describeAuditEntry({ kind: "of_an_older_version", detail: {} }).title).toBe("of an older version");
  expect(describeAuditEntry({ kind: "constructor", detail: {} }).title).toBe("constructor");
});

test("details of an audit entry are described in plain language", () => {
  const more = (kind: string, detail: Parameters<typeof describeAuditEntry>[0]["detail"]) =>
    describeAuditEntry({ kind, detail }).more;
  expect(more("provider_changed", { host: "b", host_before: "a", key: "removed" })).toBe(
    "host changed from a to b, key removed",
  );
  expect(more("mcp_server_changed", { server: "notes", is_enabled: false })).toBe("turned off");
  expect(
    more("mcp_tools_approved", { tools: ["a", "b", "c", "d", "e", "f", "g"].map((tool) => ({ tool })) }),
  ).toBe("a, b, c, d, e and 2 more");
  expect(more("role_tools_changed", { role: "R", added: ["http_write"], removed: [], from: "file" })).toBe(
    "added http_write, by importing a file",
  );
});

test("an audit entry names its actor and links to its run", () => {
  const who = (text: string, more = {}) =>
    describeActor({ who: text, isOwn: false, token_name: null, ...more });
  expect(who("session:abcdef", { isOwn: true })).toBe("in this browser");
  expect(who("session:abcdef")).toBe("in another browser (abcd)");
  expect(who("token:tok_1", { token_name: "Nightly" })).toBe("with the token “Nightly”");
  expect(who("token:environment")).toBe("with the token from the environment");
  expect(who("nobody")).toBe("by an unknown user");
  const detail = { run_id: "run_1", workflow_id: "wf_1" };
  expect(runPlace({ kind: "question_answered", detail })).toBe("/workflows/wf_1/runs/run_1");
  expect(runPlace({ kind: "signed_in", detail })).toBeNull();
});
