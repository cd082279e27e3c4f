import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { destinationOf } from "./destination";

test("a call's destination is its address, recipients or path", () => {
  expect(destinationOf({ method: "POST", url: "https://example.org/a" })).toBe("https://example.org/a");
  expect(destinationOf({ subject: "Hi", to: ["a@example.org", "b@example.org"] })).toBe(
    "a@example.org, b@example.org",
  );
  expect(destinationOf({ path: "notes/a.md", content: "x" })).toBe("notes/a.md");
});

test("a call without a destination shows none", () => {
  const silent: JsonObject[] = [{}, { to: "" }, { to: [] }, { to: [1, 2] }, { url: { host: "example.org" } }];
  for (const args of silent) expect(destinationOf(args)).toBeNull();
});
