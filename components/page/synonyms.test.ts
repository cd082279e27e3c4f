import { expect, test } from "vitest";
import { synonymsOf } from "./synonyms";

test.each([
  ["Cycle through connections", "edge"],
  ["Run workflow", "execution"],
  ["Start", "trigger"],
  ["Pause", "interrupt"],
  ["Workflow tests", "assertion"],
])("%s has the synonym %s", (label, word) => {
  expect(synonymsOf(label).split(" ")).toContain(word);
});
test("a label without known terms has no synonyms", () => {
  expect(synonymsOf("Zoom to fit constructor")).toBe("");
});
