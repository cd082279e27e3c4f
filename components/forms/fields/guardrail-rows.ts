import { findGuardrailFunction } from "@/server/domain/agent/guardrail-functions";
import { GUARDRAIL_TARGETS, type Guardrail } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { JsonSchema } from "@/server/domain/base/values";
import { checkExpression } from "@/server/domain/text/expression/expression";
import { validatePattern } from "@/server/domain/text/pattern-validation";

/** A guardrail in a form: the current draft, and the last complete version, or null. */
export interface GuardrailRow {
  now: Guardrail;
  kept: Guardrail | null;
}

export interface GuardrailErrors {
  name?: string;
  spec?: string;
}

/** The keys of the checked value, if known. */
export interface GuardedKeys {
  input: readonly string[];
  output: readonly string[];
}

export const rowsOf = (rules: readonly Guardrail[]): GuardrailRow[] =>
  rules.map((rule) => ({ now: rule, kept: rule }));

/** The guardrails to save: the last complete version of each row. */
export const keptOf = (rows: readonly GuardrailRow[]): Guardrail[] =>
  rows.flatMap(({ kept }) => (kept ? [kept] : []));

export const isWhole = (rule: Guardrail): boolean => Object.keys(guardrailErrors(rule)).length === 0;

export function changedRow({ now, kept }: GuardrailRow, change: Partial<Guardrail>): GuardrailRow {
  const next = { ...now, ...change };
  if (change.kind !== undefined && change.kind !== now.kind)
    next.spec = kept?.kind === change.kind ? kept.spec : "";
  // The input does not change, so a retry cannot help.
  if (next.target === "input" && next.on_fail === "retry") next.on_fail = "fail";
  return { now: next, kept: isWhole(next) ? next : kept };
}

/** What is missing or invalid in a guardrail, by field. */
export function guardrailErrors({ name, kind, spec }: Guardrail): GuardrailErrors {
  return defined({
    name: name.trim() === "" ? "A guardrail needs a name." : undefined,
    spec: specError(kind, spec) ?? undefined,
  });
}

function specError(kind: Guardrail["kind"], spec: string): string | null {
  switch (kind) {
    case "expression":
      return spec.trim() === ""
        ? "Enter a condition."
        : (checkExpression(spec, { result: "bool" })[0]?.message ?? null);
    case "json_schema":
      return Object.keys(schemaOf(spec) ?? {}).length > 0 ? null : "Define a schema.";
    case "regex":
      return validatePattern(spec);
    case "llm_judge":
      return spec.trim() === "" ? "Enter a rule." : null;
    case "registered":
      return findGuardrailFunction(spec)
        ? null
        : spec === ""
          ? "Choose a check."
          : `Unknown check “${spec}”. Choose one.`;
  }
}

/** Parses the schema of a guardrail; undefined if it is invalid. */
export function schemaOf(spec: string): JsonSchema | undefined {
  try {
    return JsonSchema.safeParse(JSON.parse(spec)).data;
  } catch {
    return undefined;
  }
}

/** What guardrail expressions can read besides the state. */
export function guardedReads(target: Guardrail["target"], { input, output }: GuardedKeys): string[] {
  switch (target) {
    case "output":
      return output.length > 0 ? output.map((key) => `output.${key}`) : ["output"];
    case "input":
      return ["input.task", ...input.map((key) => `input.${key}`)];
    case "tool_input":
      return ["input.tool", "input.args"];
    case "tool_output":
      return ["output.tool", "output.output"];
  }
}

/** A guardrail in one line: its condition, and what happens if it fails. */
export function describeGuardrail(rule: Guardrail): string {
  return `${GUARDRAIL_TARGETS[rule.target]}: ${describeRule(rule)}; ${describeOnFail(rule)}`;
}

function describeRule({ kind, spec }: Guardrail): string {
  switch (kind) {
    case "expression":
      return spec.trim();
    case "json_schema": {
      const { properties } = schemaOf(spec) ?? {};
      const names = properties && typeof properties === "object" ? Object.keys(properties) : [];
      return names.length > 0 ? `matches a schema with ${names.join(", ")}` : "matches the schema";
    }
    case "regex":
      return `matches ${spec}`;
    case "llm_judge":
      return `a judge finds that ${spec.trim().replace(/\.$/, "")}`;
    case "registered":
      return lowerFirst(findGuardrailFunction(spec)?.description ?? spec);
  }
}

function describeOnFail({ on_fail, max_retries }: Guardrail): string {
  switch (on_fail) {
    case "retry":
      return `otherwise retries ${max_retries === 1 ? "once" : `up to ${max_retries} times`}`;
    case "fail":
      return "otherwise fails";
    case "escalate":
      return "otherwise asks a person";
    case "warn":
      return "otherwise warns";
  }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
