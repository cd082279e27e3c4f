"use client";

import dynamic from "next/dynamic";
import type { ComponentType } from "react";
import { CodeArea } from "@/components/ui/input/code-area";
import { Skeleton } from "@/components/ui/skeleton";
import type { Field, FieldVariant } from "@/server/domain/nodes";
import type { FieldProps } from "./field-props";
import { asText, basicVariants, orNothing } from "./fields/basic-fields";
import { ExpressionField } from "./fields/expression-field";
import { LabelField } from "./fields/label-field";
import { RoleField } from "./fields/role-field";
import { TemplateField } from "./fields/template-field";
import { ValueField } from "./schema/value-field";

type VariantProps = FieldProps & { field: Field };
type Load = () => Promise<ComponentType<VariantProps>>;

const lazy = (load: Load) => dynamic(load, { loading: () => <Skeleton className="h-16 w-full" /> });
/** For fields that may render nothing. */
const lazyWithoutPlace = (load: Load) => dynamic(load, { loading: () => null });

/** One component per variant: a node kind only names the variant it wants. */
const variants: Record<FieldVariant, ComponentType<VariantProps>> = {
  ...basicVariants,
  // Nodes store every text, even an empty one.
  text: (props) => basicVariants.text({ ...props, field: { ...props.field, empty: "" } }),
  multiline: (props) => basicVariants.multiline({ ...props, field: { ...props.field, empty: "" } }),
  template: ({ field, ...props }) => <TemplateField {...props} minLines={field.lines} />,
  expression: (props) => (
    <ExpressionField
      {...props}
      value={asText(props.value)}
      onChange={(text) => props.onChange(orNothing(text))}
    />
  ),
  role: RoleField,
  label: LabelField,
  value: ({ value, onChange, field: _field, ...labelProps }) => (
    <ValueField {...labelProps} value={asText(value)} onChange={(text) => onChange(orNothing(text))} />
  ),
  code: ({ value, onChange, field: _field, hideLabel: _hide, ...labelProps }) => (
    <CodeArea {...labelProps} minLines={6} maxLines={30} value={asText(value)} onValueChange={onChange} />
  ),
  schema: lazy(() => import("./schema/schema-field").then((m) => m.SchemaField)),
  arguments: lazy(() => import("./schema/arguments-field").then((m) => m.ArgumentsField)),
  ways: lazy(() => import("./fields/routes-field").then((m) => m.RoutesField)),
  assignments: lazy(() => import("./crew/assignments-field").then((m) => m.AssignmentsField)),
  pairs: lazy(() => import("./fields/pairs-field").then((m) => m.PairsField)),
  crew: lazy(() => import("./crew/crew-field").then((m) => m.CrewField)),
  crew_ref: lazyWithoutPlace(() => import("./crew/crew-field").then((m) => m.CrewRefField)),
  agent_ref: lazyWithoutPlace(() => import("./fields/agent-choice").then((m) => m.AgentRefField)),
  plan: lazy(() => import("./crew/plan-field").then((m) => m.NodePlanField)),
  guardrails: lazy(() => import("./fields/guardrails-field").then((m) => m.TaskGuardrails)),
  llm: lazy(() => import("./fields/llm-field").then((m) => m.TaskLlm)),
  tool: lazy(() => import("./tools/tool-fields").then((m) => m.ToolField)),
  tools: lazy(() => import("./tools/tool-fields").then((m) => m.ToolsField)),
  router_function: lazy(() => import("./fields/rule-fields").then((m) => m.RuleNameField)),
  own_rule: lazy(() => import("./fields/rule-fields").then((m) => m.OwnRuleField)),
};

/** A field of a node kind, rendered by its variant. */
export function FieldView(props: FieldProps & { field: Field }) {
  const Variant = variants[props.field.as];
  return <Variant {...props} />;
}
