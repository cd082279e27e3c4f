"use client";

import dynamic from "next/dynamic";
import { type ComponentType, useContext } from "react";
import { CodeArea } from "@/components/ui/input/code-area";
import { Skeleton } from "@/components/ui/skeleton";
import { bodyFieldOf } from "@/server/domain/graph/bodies";
import type { Field, FieldVariant } from "@/server/domain/nodes";
import type { FieldProps } from "./field-props";
import { asText, basicVariants, orNothing } from "./fields/basic-fields";
import { ExpressionField } from "./fields/expression-field";
import { LabelField } from "./fields/label-field";
import { RoleField } from "./fields/role-field";
import { TemplateField } from "./fields/template-field";
import { FormScopeContext } from "./form-scope";
import { ValueField } from "./schema/value-field";

type VariantProps = FieldProps & { field: Field };
type Load = () => Promise<ComponentType<VariantProps>>;

const lazy = (load: Load) => dynamic(load, { loading: () => <Skeleton className="h-16 w-full" /> });
/** For fields that may render nothing. */
const lazyWithoutPlace = (load: Load) => dynamic(load, { loading: () => null });

const AssignmentsField = dynamic(() => import("./crew/assignments-field").then((m) => m.AssignmentsField), {
  loading: () => <Skeleton className="h-16 w-full" />,
});

function Assignments({ field, ...props }: VariantProps) {
  return <AssignmentsField {...props} variables={useVariables(field)} />;
}

function Expression({ field, value, onChange, ...labelProps }: VariantProps) {
  return (
    <ExpressionField
      {...labelProps}
      variables={useVariables(field)}
      value={asText(value)}
      onChange={(text) => onChange(orNothing(text))}
    />
  );
}

/** What an expression may read besides the state: of a node that repeats something, the item and its position. */
function useVariables({ key, as }: Field): readonly string[] {
  const node = useContext(FormScopeContext)?.node;
  if (!node || bodyFieldOf(node.node_type) === undefined) return [];
  if (as === "assignments") return ["item", "index"];
  return key === "output" ? ["output", "item", "index"] : [];
}

/** One component per variant: a node kind only names the variant it wants. */
const variants: Record<FieldVariant, ComponentType<VariantProps>> = {
  ...basicVariants,
  // Nodes store every text, even an empty one.
  text: (props) => basicVariants.text({ ...props, field: { ...props.field, empty: "" } }),
  multiline: (props) => basicVariants.multiline({ ...props, field: { ...props.field, empty: "" } }),
  template: ({ field, ...props }) => <TemplateField {...props} minLines={field.lines} />,
  expression: Expression,
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
  assignments: Assignments,
  pairs: lazy(() => import("./fields/pairs-field").then((m) => m.PairsField)),
  crew: lazy(() => import("./crew/crew-field").then((m) => m.CrewField)),
  crew_ref: lazyWithoutPlace(() => import("./crew/crew-field").then((m) => m.CrewRefField)),
  agent_ref: lazyWithoutPlace(() => import("./fields/agent-choice").then((m) => m.AgentRefField)),
  plan: lazy(() => import("./crew/plan-field").then((m) => m.NodePlanField)),
  guardrails: lazy(() => import("./fields/guardrails-field").then((m) => m.TaskGuardrails)),
  llm: lazy(() => import("./fields/llm-field").then((m) => m.TaskLlm)),
  workflow: lazy(() => import("./fields/workflow-field").then((m) => m.WorkflowField)),
  body: lazy(() => import("./fields/workflow-field").then((m) => m.BodyField)),
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
