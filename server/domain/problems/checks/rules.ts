import type { Guardrail } from "@/server/domain/agent/role";
import { describeUnchecked, guardrailNote } from "@/server/domain/agent/unchecked";
import type { JsonSchema } from "@/server/domain/base/values";
import type { NodeCheck } from "../check";
import type { PlanLike } from "../crew-like";
import { nameOf } from "../names";

/** What a schema or a pattern asks for and nobody checks is told while drawing, never only left out. */
export function checkRules({ report, at, node, kind }: NodeCheck): void {
  const config: Record<string, unknown> = node.config;
  const tell = (field: string, what: string, words: string) =>
    report.warning(
      "W_NOT_CHECKED",
      { ...at, field },
      `${what} of ${nameOf(node)} is not checked as it stands. ${words}`,
    );
  const tellRules = (rules: unknown, field: string) =>
    ((rules ?? []) as readonly Guardrail[]).forEach((rule, position) => {
      const words = guardrailNote(rule);
      if (words && rule.kind === "regex")
        report.warning(
          "W_SLOW_PATTERN",
          { ...at, field: `${field}.${position}` },
          `The guardrail "${rule.name}" of ${nameOf(node)} may be slow. ${words}`,
        );
      else if (words) tell(`${field}.${position}`, `The guardrail "${rule.name}"`, words);
    });
  for (const { key, as, label, showIf } of kind.fields) {
    const value = config[key];
    if (value === undefined || value === null || (showIf && !showIf(node.config))) continue;
    if (as === "schema") {
      const words = describeUnchecked(value as JsonSchema);
      if (words.length > 0) tell(key, `"${label}"`, words.join(" "));
    } else if (as === "guardrails") tellRules(value, key);
    else if (as === "plan")
      ((value as PlanLike).tasks ?? []).forEach(({ guardrails }, position) => {
        tellRules(guardrails, `${key}.tasks.${position}.guardrails`);
      });
  }
}
