import { expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "./builtin-roles";
import { rolePrompt } from "./prompt";

test("every role has a name of its own, a purpose, and a prompt that can be written", () => {
  expect(new Set(builtinRoles.map(({ name }) => name)).size).toBe(builtinRoles.length);
  for (const role of builtinRoles) {
    expect(rolePrompt(role)).toContain(`You are ${role.name}. ${role.description}`);
    expect(role.name).toEqual(role.name);
    expect(role.goals.length > 0).toBe(true);
    expect(role.responsibilities.length > 0).toBe(true);
    expect(findBuiltinRole(role.name)).toBe(role);
  }
});

test("only these may use tools, and only these tools", () => {
  expect(
    Object.fromEntries(builtinRoles.flatMap(({ name, tools }) => (tools.length > 0 ? [[name, tools]] : []))),
  ).toEqual({
    Researcher: [
      "web_search",
      "browse_url",
      "read_artifact",
      "create_artifact",
      "store_memory",
      "search_memory",
    ],
    Developer: ["file_read", "file_write"],
    Manager: [
      "plan_read",
      "plan_add_task",
      "plan_update_task",
      "plan_assign_task",
      "plan_estimate_duration",
      "plan_set_dependencies",
      "read_board",
      "write_board",
      "retrieve_memory",
      "search_memory",
    ],
    CodeInterpreter: [
      "run_javascript",
      "file_read",
      "file_write",
      "read_artifact",
      "create_artifact",
      "read_board",
      "write_board",
    ],
    DocumentReader: ["file_read", "read_artifact", "read_board", "write_board"],
    WebResearcher: ["web_search", "browse_url"],
  });
});

test("who works by a procedure lists its steps in order", () => {
  const steps = (name: string) =>
    findBuiltinRole(name)!.responsibilities.flatMap((line) => /^Step \d, (\w+)/.exec(line)?.slice(1) ?? []);
  expect(steps("Developer")).toEqual(["analyse", "read", "write", "criticise", "hand"]);
  expect(steps("Researcher")).toEqual(["clarify", "gather", "report", "hand"]);
});
