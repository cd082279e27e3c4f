import type { Guardrail } from "@/server/domain/agent/role";
import { describeUnchecked, guardrailNote } from "@/server/domain/agent/unchecked";
import { settingsOf } from "@/server/domain/nodes";
import type { NodeCheck } from "../check";
import type { PlanLike } from "../crew-like";
import { nameOf } from "../names";

/** What a schema or a pattern asks for and nobody checks is told while drawing, never only left out. */
export function checkRules({ report, at, node, kind }: NodeCheck): void {
  const settings = settingsOf(node);
  const warn = (field: string, what: string, detail: string) =>
    report.warning(
      "W_NOT_CHECKED",
      { ...at, field },
      `${what} of ${nameOf(node)} is not checked as it stands. ${detail}`,
    );
  const warnRules = (rules: readonly Guardrail[] | undefined, field: string) =>
    rules?.forEach((rule, position) => {
      const note = guardrailNote(rule);
      if (note && rule.kind === "regex")
        report.warning(
          "W_SLOW_PATTERN",
          { ...at, field: `${field}.${position}` },
          `The guardrail "${rule.name}" of ${nameOf(node)} may be slow. ${note}`,
        );
      else if (note) warn(`${field}.${position}`, `The guardrail "${rule.name}"`, note);
    });
  for (const field of kind.fields) {
    if (field.showIf && !field.showIf(node.config)) continue;
    if (field.as === "schema") {
      const schema = settings[field.key];
      const notes = schema ? describeUnchecked(schema) : [];
      if (notes.length > 0) warn(field.key, `"${field.label}"`, notes.join(" "));
    } else if (field.as === "guardrails") warnRules(settings[field.key], field.key);
    else if (field.as === "plan") {
      const plan: PlanLike | undefined = settings[field.key];
      plan?.tasks?.forEach(({ guardrails }, position) => {
        warnRules(guardrails, `${field.key}.tasks.${position}.guardrails`);
      });
    }
  }
}
