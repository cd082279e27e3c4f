import { expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "./builtin-roles";
import { rolePrompt } from "./prompt";

test("every built-in role has a unique name, a valid prompt, and goals and responsibilities unless it answers by rule", () => {
  expect(new Set(builtinRoles.map(({ name }) => name)).size).toBe(builtinRoles.length);
  for (const role of builtinRoles) {
    expect(rolePrompt(role)).toContain(`You are ${role.name}. ${role.description}`);
    expect(role.name).toEqual(role.name);
    expect(role.rule !== undefined || role.goals.length > 0).toBe(true);
    expect(role.rule !== undefined || role.responsibilities.length > 0).toBe(true);
    expect(findBuiltinRole(role.name)).toBe(role);
  }
});

test("no built-in role has wildcard, MCP, sending or deleting tools", () => {
  const outside = builtinRoles.flatMap(({ tools }) =>
    tools.filter((name) => /\*|^mcp:|write$|send|delete/.test(name)),
  );
  expect(new Set(outside)).toEqual(new Set(["file_write"]));
});

test("procedural roles list their steps in order", () => {
  const steps = (name: string) =>
    findBuiltinRole(name)!.responsibilities.flatMap((line) => /^Step \d, (\w+)/.exec(line)?.slice(1) ?? []);
  expect(steps("Developer")).toEqual(["analyze", "read", "write", "review", "hand"]);
  expect(steps("Researcher")).toEqual(["clarify", "gather", "report", "hand"]);
});
