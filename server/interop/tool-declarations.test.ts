import { expect, test } from "vitest";
import { plainAddress, serverEntry, withoutKeys } from "./tool-declarations";

test.each([
  ["https://u:pw@x.example/sse?key=SECRET&api_key=SECRET#SECRET", "https://x.example/sse"],
  ["https://x.example/a", "https://x.example/a"],
  ["not a url?key=SECRET", "not a url"],
])("the address %s is shown as %s", (url, shown) => {
  expect(plainAddress(url)).toBe(shown);
});

test("commands are shown without the values of options that are named like secrets", () => {
  expect(withoutKeys(["npx", "--key", "SECRET", "--token=SECRET", "x"]).join(" ")).not.toContain("SECRET");
  expect(serverEntry("srv", { command: "npx srv --api-key SECRET --token=SECRET" })).not.toContain("SECRET");
});
