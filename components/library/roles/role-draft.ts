import type { z } from "zod";
import { systemPrompt } from "@/server/domain/agent/prompt";
import { RoleDefinition } from "@/server/domain/agent/role";
import { ruleError } from "@/server/domain/agent/role-rule";
import { defined } from "@/server/domain/base/defined";
import { issueText } from "@/server/domain/base/issues/issue-text";

/** Errors by field, with an index in lists: `goals.2`. */
export type RoleErrors = Readonly<Record<string, string>>;

export function newRole(name: string): RoleDefinition {
  return { ...RoleDefinition.parse({ name: "x" }), name };
}

/** The role to save, without empty lines and blank texts. */
export function tidied(role: RoleDefinition): RoleDefinition {
  const lines = (items: readonly string[]) => items.map((item) => item.trim()).filter((item) => item !== "");
  const { system_prompt_template, color, icon, ...rest } = role;
  return {
    ...rest,
    name: role.name.trim(),
    description: role.description.trim(),
    goals: lines(role.goals),
    responsibilities: lines(role.responsibilities),
    tools: lines(role.tools),
    ...defined({
      system_prompt_template: system_prompt_template?.trim() ? system_prompt_template : undefined,
      color: color || undefined,
      icon: icon || undefined,
    }),
  };
}

/** Why a role cannot be saved, by field. `others`: names that are taken. */
export function roleErrors(role: RoleDefinition, others: readonly string[]): RoleErrors {
  const errors: Record<string, string> = {};
  const read = RoleDefinition.safeParse(role);
  if (!read.success) for (const issue of read.error.issues) errors[placeOf(issue)] ??= issueText(issue);
  const { error } = readPrompt(role);
  if (error) errors.system_prompt_template ??= error;
  const wrongRule = role.rule && ruleError(role.rule);
  if (wrongRule) errors.rule = wrongRule;
  if (others.includes(role.name.trim())) errors.name = "Another role has this name.";
  return errors;
}

/** The system prompt of a role, or its error. */
export function readPrompt(
  role: RoleDefinition,
): { prompt: string; error: null } | { prompt: null; error: string } {
  try {
    return { prompt: systemPrompt(role, { hasTools: role.tools.length > 0 }), error: null };
  } catch (error) {
    return {
      prompt: null,
      error: error instanceof Error ? error.message : "Can't fill in the template.",
    };
  }
}

function placeOf({ path }: z.core.$ZodIssue): string {
  return path.slice(0, 2).map(String).join(".");
}

/** The errors of a list, by index. */
export function itemErrors(errors: RoleErrors, list: string): Record<number, string> {
  return Object.fromEntries(
    Object.entries(errors).flatMap(([place, message]) =>
      place.startsWith(`${list}.`) ? [[Number(place.slice(list.length + 1)), message]] : [],
    ),
  );
}

/** The standard prompt as a template, the start of a custom one. */
export const STANDARD_TEMPLATE = `You are {{ role.name }}. {{ role.description }} {{ backstory }}

Goals:
{{ goals }}

Responsibilities:
{{ responsibilities }}`;
