"use client";

import { ExpressionField } from "@/components/forms/fields/expression-field";
import { JsonField } from "@/components/forms/schema/json-field";
import { Select } from "@/components/ui/input/select";
import { ROLE_RULES, type RoleDefinition, type RoleRule } from "@/server/domain/agent/role";
import { lookupErrors, ruleError, unusedByRule } from "@/server/domain/agent/role-rule";
import { choicesOf, withSetting } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";

const READS = ["input.task", "input.goal", "input.results", "input.board"];
const MAY_READ = `Can read ${READS.join(", ")}, the role's input fields and the state`;
const NEW_RULES: Record<RoleRule["kind"], RoleRule> = {
  echo: { kind: "echo" },
  expression: { kind: "expression", expression: "" },
  lookup: { kind: "lookup", table: {} },
};

/** Whether a model answers for a role, or a rule, and which. */
export function RoleRuleField({
  role,
  onChange,
  onTextErrorChange,
}: {
  role: RoleDefinition;
  onChange: (rule: RoleRule | undefined) => void;
  onTextErrorChange: (field: string, message: string | null) => void;
}) {
  const { rule } = role;
  const unused = unusedByRule(role);
  return (
    <>
      <Select<RoleRule["kind"] | "model">
        label="Answered by"
        value={rule?.kind ?? "model"}
        onValueChange={(kind) => {
          for (const field of ["rule.table", "rule.default"]) onTextErrorChange(field, null);
          onChange(kind === "model" ? undefined : NEW_RULES[kind]);
        }}
        hint={
          unused.length > 0
            ? `Unused with a rule: ${unused.join(", ")}`
            : "A rule answers at once, without a model and at no cost"
        }
        fieldClassName="max-w-80"
        options={[{ value: "model", label: "Model" }, ...choicesOf(ROLE_RULES)]}
      />
      {rule?.kind === "expression" ? (
        <ExpressionField
          label="Answer"
          hint={MAY_READ}
          error={ruleError(rule) ?? undefined}
          placeholder="input.task.upperAscii()"
          variables={READS}
          value={rule.expression}
          onChange={(expression) => onChange({ ...rule, expression })}
        />
      ) : null}
      {rule?.kind === "lookup" ? (
        <>
          <JsonField
            label="Table"
            hint="An object: each question with its answer"
            error={lookupErrors(rule).table}
            value={rule.table}
            check={(value) => (isObject(value) ? null : "Enter an object.")}
            onErrorChange={(error) => onTextErrorChange("rule.table", error)}
            onChange={(table) => onChange({ ...rule, table: isObject(table) ? table : {} })}
          />
          <ExpressionField
            label="Key"
            hint={`The message if empty. ${MAY_READ}`}
            error={lookupErrors(rule).key}
            placeholder="input.task.lowerAscii()"
            variables={READS}
            value={rule.key ?? ""}
            onChange={(key) => onChange(withSetting(rule, "key", key.trim() ? key : undefined))}
          />
          <JsonField
            label="Default"
            hint="The answer if no entry matches. If empty, the task fails"
            value={rule.default}
            onErrorChange={(error) => onTextErrorChange("rule.default", error)}
            onChange={(value) => onChange(withSetting(rule, "default", value))}
          />
        </>
      ) : null}
    </>
  );
}
