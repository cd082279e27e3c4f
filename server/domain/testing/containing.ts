import { expect } from "vitest";

/** What a sentence is expected to hold, so that its other words may change; nothing stays nothing. */
export const containing = (words: string | null | undefined): unknown =>
  typeof words === "string" ? expect.stringContaining(words) : words;
