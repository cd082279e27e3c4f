import { defined } from "@/server/domain/base/defined";
import type { Json, JsonObject, Result } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import {
  checkExpression,
  ExpressionError,
  evaluateExpression,
} from "@/server/domain/text/expression/expression";
import type { RoleDefinition, RoleRule } from "./role";

/** What a rule answers, and what its expressions can read. */
export interface RuleScope {
  /** Also readable as `input.task`. */
  message: string;
  /** `goal`, `results` and `board` of a crew, then what the role reads, by name. */
  input: JsonObject;
  state: Readonly<Record<string, Json>>;
  now: number;
}

/** The answer of a rule, or why there is none. */
export function answerOf(rule: RoleRule, { message, input, state, now }: RuleScope): Result<Json> {
  const work = new Work();
  const scope = { state, input: { task: message, ...input }, now };
  try {
    switch (rule.kind) {
      case "echo":
        return { value: message };
      case "expression":
        return { value: evaluateExpression(rule.expression, scope, work) };
      case "lookup": {
        const found = rule.key?.trim() ? evaluateExpression(rule.key, scope, work) : message.trim();
        const key = typeof found === "string" ? found : JSON.stringify(found);
        const value = Object.hasOwn(rule.table, key) ? rule.table[key] : rule.default;
        return value === undefined
          ? { error: `The lookup table has no entry for "${key.slice(0, 80)}", and no default.` }
          : { value };
      }
    }
  } catch (error) {
    if (error instanceof ExpressionError) return { error: error.message };
    throw error;
  }
}

/** What is wrong with a rule before it is used; null where nothing is. */
export function ruleError(rule: RoleRule): string | null {
  if (rule.kind === "echo") return null;
  if (rule.kind === "expression") return checkExpression(rule.expression)[0]?.message ?? null;
  const { key, table } = lookupErrors(rule);
  return key ?? table ?? null;
}

/** What is wrong with a lookup, by field. */
export const lookupErrors = ({ key, table, default: otherwise }: Extract<RoleRule, { kind: "lookup" }>) =>
  defined({
    key: key?.trim() ? checkExpression(key)[0]?.message : undefined,
    table:
      Object.keys(table).length === 0 && otherwise === undefined ? "Add an entry or a default." : undefined,
  });

/** Labels of settings that have no effect because the role has a rule. */
export const unusedByRule = (
  role: Pick<RoleDefinition, "rule" | "tools"> & Partial<RoleDefinition>,
): string[] =>
  role.rule
    ? [
        ...(role.tools.length > 0 ? ["tools"] : []),
        ...(role.system_prompt_template?.trim() ? ["prompt template"] : []),
        ...(role.knowledge ? ["knowledge"] : []),
      ]
    : [];
