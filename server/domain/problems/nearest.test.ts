import { expect, test } from "vitest";
import { nearest } from "./nearest";

test.each<[string, string[], string | null]>([
  ["Wrtier", ["Reader", "Writer"], "Writer"],
  ["web search", ["websearch", "Web_Search"], "websearch"],
  ["writer", ["Writer"], "Writer"],
  ["draft", ["drafts"], "drafts"],
  ["draft", ["dropped", "drxxt"], "drxxt"],
  ["draft", ["dxxxt"], null],
  ["draft", ["draftabc"], null],
  ["cost", ["costs"], "costs"],
  ["cost", ["cots"], null],
  ["cast", ["most", "cost"], "cost"],
  ["text", ["next", "test"], "next"],
  ["ab", ["ac"], null],
  ["abc", ["ab"], null],
  ["abcd", ["abc"], "abc"],
  ["a", [], null],
  ["aaaa", ["aaaaa"], "aaaaa"],
  ["abcabc", ["abc"], null],
  ["Schreiberin", ["Schreiber"], "Schreiber"],
  ["Автор", ["Редактор"], null],
  ["автор", ["Редактор", "Автор"], "Автор"],
  ["Übersetzer", ["ubersetzer", "übersetzer"], "übersetzer"],
  ["…", ["—"], null],
  ["…", ["Writer"], null],
])("the nearest match for %j among %j is %j", (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant);
});
