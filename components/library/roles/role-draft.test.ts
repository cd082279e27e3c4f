import { expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { rolePrompt } from "@/server/domain/agent/prompt";
import type { RoleRule } from "@/server/domain/agent/role";
import { lookupErrors } from "@/server/domain/agent/role-rule";
import { itemErrors, newRole, roleErrors, STANDARD_TEMPLATE, tidied } from "./role-draft";

test("a custom template that equals the standard template produces the same prompt", () => {
  const role = findBuiltinRole("Writer")!;
  const own = rolePrompt({ ...role, system_prompt_template: STANDARD_TEMPLATE });
  expect(own.replace(/ +\n/g, "\n")).toBe(rolePrompt(role));
});

test("built-in roles have no errors", () => {
  for (const role of builtinRoles) expect(roleErrors(role, [])).toEqual({});
});

test("an error is reported at its field", () => {
  expect(roleErrors(newRole(""), [])).toEqual({ name: "A role needs a name" });
  expect(roleErrors(newRole("A"), ["A"])).toEqual({ name: "Another role has this name." });
  const long = { ...newRole("A"), goals: ["fine", "x".repeat(2001)] };
  expect(Object.keys(itemErrors(roleErrors(long, []), "goals"))).toEqual(["1"]);
  const broken = { ...newRole("A"), system_prompt_template: "You are {{ role.name" };
  expect(roleErrors(broken, []).system_prompt_template).toBeTruthy();
});

test("empty lines and whitespace don't count as changes", () => {
  const role = newRole("A");
  expect(tidied({ ...role, name: " A ", goals: ["", "  "] })).toEqual(tidied(role));
  expect(tidied({ ...role, system_prompt_template: "  " })).toEqual(role);
});

test("an error of a lookup is reported at its table or its key", () => {
  const lookup = { kind: "lookup" as const, table: {} };
  expect(lookupErrors(lookup)).toEqual({ table: "Add an entry or a default." });
  expect(lookupErrors({ ...lookup, default: "None", key: "input.task +" })).toEqual({
    key: "The expression is incomplete.",
  });
});

test("a rule that can't be used is reported at the rule", () => {
  const withRule = (rule: RoleRule) => roleErrors({ ...newRole("A"), rule }, []);
  expect(withRule({ kind: "echo" })).toEqual({});
  expect(withRule({ kind: "expression", expression: "input.task +" })).toEqual({
    rule: "The expression is incomplete.",
  });
  expect(withRule({ kind: "lookup", table: {} })).toEqual({ rule: "Add an entry or a default." });
});
