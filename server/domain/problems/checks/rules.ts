import type { Guardrail } from "@/server/domain/agent/role";
import { describeUnchecked, guardrailNote } from "@/server/domain/agent/unchecked";
import { settingsOf } from "@/server/domain/nodes";
import type { NodeCheck } from "../check";
import type { PlanLike } from "../crew-like";
import { nameOf } from "../names";

/** What a schema or a pattern asks for and nobody checks is told while drawing, never only left out. */
export function checkRules({ report, at, node, kind }: NodeCheck): void {
  const settings = settingsOf(node);
  const tell = (field: string, what: string, words: string) =>
    report.warning(
      "W_NOT_CHECKED",
      { ...at, field },
      `${what} of ${nameOf(node)} is not checked as it stands. ${words}`,
    );
  const tellRules = (rules: readonly Guardrail[] | undefined, field: string) =>
    rules?.forEach((rule, position) => {
      const words = guardrailNote(rule);
      if (words && rule.kind === "regex")
        report.warning(
          "W_SLOW_PATTERN",
          { ...at, field: `${field}.${position}` },
          `The guardrail "${rule.name}" of ${nameOf(node)} may be slow. ${words}`,
        );
      else if (words) tell(`${field}.${position}`, `The guardrail "${rule.name}"`, words);
    });
  for (const field of kind.fields) {
    if (field.showIf && !field.showIf(node.config)) continue;
    if (field.as === "schema") {
      const schema = settings[field.key];
      const words = schema ? describeUnchecked(schema) : [];
      if (words.length > 0) tell(field.key, `"${field.label}"`, words.join(" "));
    } else if (field.as === "guardrails") tellRules(settings[field.key], field.key);
    else if (field.as === "plan") {
      const plan: PlanLike | undefined = settings[field.key];
      plan?.tasks?.forEach(({ guardrails }, position) => {
        tellRules(guardrails, `${field.key}.tasks.${position}.guardrails`);
      });
    }
  }
}
