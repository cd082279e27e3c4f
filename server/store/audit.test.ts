import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newAuditStore } from "./audit";

test("audit entries are listed newest first, by kind and in pages", () => {
  let at = 0;
  const audit = newAuditStore(emptyDb(), () => ++at);
  const made = audit.append({ kind: "token_made", who: "session:1", detail: { token: "Nightly" } });
  audit.append({ kind: "signed_out", who: "session:1" });
  audit.append({ kind: "token_revoked", who: "session:2", detail: { token: "Nightly" } });
  expect(audit.list().map(({ kind, at }) => [kind, at])).toEqual([
    ["token_revoked", 3],
    ["signed_out", 2],
    ["token_made", 1],
  ]);
  const [newest] = audit.list({ kinds: ["token_made", "token_revoked"], limit: 1 });
  expect(newest).toMatchObject({ who: "session:2", detail: { token: "Nightly" } });
  expect(audit.list({ kinds: ["token_made", "token_revoked"], before: newest!.id })).toEqual([made]);
  expect(audit.list({ kinds: [] })).toEqual([]);
});

test("audit entries can't be changed or removed", () => {
  expect(Object.keys(newAuditStore(emptyDb())).sort()).toEqual(["append", "list"]);
});

test("secrets are redacted before an audit entry is written", () => {
  const db = emptyDb();
  const audit = newAuditStore(db, Date.now, (text) => text.replaceAll("hush-hush", "[hidden]"));
  const kept = audit.append({ kind: "provider_added", who: "session:1", detail: { provider: "hush-hush" } });
  expect(kept.detail).toEqual({ provider: "[hidden]" });
  expect(audit.list()).toEqual([kept]);
});
