"use client";

import { PencilLine } from "lucide-react";
import { Button } from "@/components/ui/button";
import { CodeArea } from "@/components/ui/input/code-area";
import { Field } from "@/components/ui/input/field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { SuggestField } from "@/components/ui/input/suggest-field";
import { writtenRules } from "@/server/domain/graph/own-rules";
import { isRouterNode } from "@/server/domain/nodes";
import { OwnRule } from "@/server/domain/tool/own-rule";
import { routerFunctions } from "@/server/domain/tool/router-functions";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { ExpressionField } from "./expression-field";

/** The rule of a router: built in, defined in the workflow, or new. */
export function RuleNameField({ value, onChange, ...labelProps }: FieldProps) {
  const { graph, node } = useFormScope();
  const others = writtenRules(graph).filter(({ node_id }) => node_id !== node?.id);
  const known = new Map([
    ...others.map(({ name, rule }) => [name, rule.description || "From this workflow"] as const),
    ...routerFunctions().map(({ name, description }) => [name, description] as const),
  ]);
  return (
    <SuggestField
      {...labelProps}
      mono
      maxLength={80}
      placeholder="by_amount"
      suggestions={[...known].map(([name, detail]) => ({ value: name, detail }))}
      value={typeof value === "string" ? value : ""}
      onValueChange={(text) => onChange(text.trim() === "" ? undefined : text.trim())}
    />
  );
}

const LANGUAGES = [
  { value: "cel", label: "Expression" },
  { value: "javascript", label: "JavaScript" },
] as const;

/** The expression of a custom rule, which returns the name of a route. */
export function OwnRuleField({ label, error, value, onChange }: FieldProps) {
  const { graph, node } = useFormScope();
  const read = OwnRule.safeParse(value ?? undefined);
  const name = isRouterNode(node) ? node.config.router_function_name : undefined;
  const otherRule = writtenRules(graph).find((one) => one.name === name && one.node_id !== node?.id);
  if (!read.success)
    return (
      <Field group label={label} error={error}>
        {otherRule ? (
          <p className="text-[13px] text-ink-2">
            Defined in “{graph.nodes[otherRule.node_id]?.name || otherRule.node_id}”.
          </p>
        ) : (
          <Button
            size="sm"
            className="self-start"
            icon={<PencilLine aria-hidden />}
            onClick={() => onChange(OwnRule.parse({}))}
          >
            Write rule
          </Button>
        )}
      </Field>
    );
  const rule = read.data;
  const change = (patch: Partial<OwnRule>) => onChange({ ...rule, ...patch });
  return (
    <div className="flex flex-col gap-3">
      <SegmentedControl
        label="Language"
        size="sm"
        className="self-start"
        options={LANGUAGES}
        value={rule.language}
        onValueChange={(language) => change({ language })}
      />
      {rule.language === "cel" ? (
        <ExpressionField
          label={label}
          hint="Returns a route name or a list of route names"
          error={error}
          placeholder={'state.amount > 100 ? "large" : "small"'}
          value={rule.source}
          onChange={(source) => change({ source })}
        />
      ) : (
        <CodeArea
          label={label}
          hint="Function body that takes state and returns a route or a list of routes"
          error={error}
          minLines={5}
          maxLines={24}
          value={rule.source}
          onValueChange={(source) => change({ source })}
        />
      )}
      <Button size="sm" variant="ghost" className="self-start" onClick={() => onChange(undefined)}>
        Remove rule
      </Button>
    </div>
  );
}
