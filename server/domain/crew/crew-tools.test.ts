import { expect, test } from "vitest";
import { newIsToolKnown } from "./crew-tools";

test("a role can name registered tools, crew tools and wildcards of known servers", () => {
  const isKnown = newIsToolKnown(["calculator", "mcp:notes/read"], ["notes"]);
  for (const name of ["calculator", "mcp:notes/read", "mcp:notes/*", "handoff", "plan_read"])
    expect(isKnown(name), name).toBe(true);
  for (const name of ["calculat", "mcp:notes/write", "mcp:other/*", "mcp:", "notes/*", "*"])
    expect(isKnown(name), name).toBe(false);
});
