import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { destinationOf } from "./destination";

test("a call goes to its address, its recipients or its path, whichever is named", () => {
  expect(destinationOf({ method: "POST", url: "https://example.org/a" })).toBe("https://example.org/a");
  expect(destinationOf({ subject: "Hi", to: ["a@example.org", "b@example.org"] })).toBe(
    "a@example.org, b@example.org",
  );
  expect(destinationOf({ path: "notes/a.md", content: "x" })).toBe("notes/a.md");
});

test("where nothing is named, no destination is made up", () => {
  const silent: JsonObject[] = [{}, { to: "" }, { to: [] }, { to: [1, 2] }, { url: { host: "example.org" } }];
  for (const args of silent) expect(destinationOf(args)).toBeNull();
});
