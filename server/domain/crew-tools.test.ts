import { expect, test } from "vitest";
import { CREW_TOOLS } from "../runner/crew/tools";
import { CREW_TOOL_NOTES, newIsToolKnown } from "./crew-tools";

test("every tool that a run carries out is described, and no other", () => {
  expect(CREW_TOOL_NOTES.map(({ name }) => name).sort()).toEqual([...CREW_TOOLS].sort());
});

test("what a role may name: registered tools, crew tools, and all tools of a known server", () => {
  const isKnown = newIsToolKnown(["calculator", "mcp:notes/read"], ["notes"]);
  for (const name of ["calculator", "mcp:notes/read", "mcp:notes/*", "handoff", "plan_read"])
    expect(isKnown(name), name).toBe(true);
  for (const name of ["calculat", "mcp:notes/write", "mcp:other/*", "mcp:", "notes/*", "*"])
    expect(isKnown(name), name).toBe(false);
});
