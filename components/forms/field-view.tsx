"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { CodeArea } from "@/components/ui/code-area";
import { Skeleton } from "@/components/ui/skeleton";
import type { Field, FieldLook } from "@/server/domain/nodes";
import { basicVariants } from "./basic-fields";
import { asText, orNothing } from "./choice-field";
import { ExpressionField } from "./expression-field";
import type { FieldProps } from "./field-props";
import { LabelField } from "./label-field";
import { RoleField } from "./role-field";
import { ValueField } from "./schema/value-field";
import { TemplateField } from "./template-field";

const loading = () => <Skeleton className="h-16 w-full" />;
const RoutesField = dynamic(() => import("./ways-field").then((m) => m.RoutesField), { loading });
const AssignmentsField = dynamic(() => import("./crew/assignments-field").then((m) => m.AssignmentsField), {
  loading,
});
const PairsField = dynamic(() => import("./pairs-field").then((m) => m.PairsField), { loading });
const ArgumentsField = dynamic(() => import("./schema/arguments-field").then((m) => m.ArgumentsField), {
  loading,
});
const ToolField = dynamic(() => import("./tools/tool-field").then((m) => m.ToolField), { loading });
const SchemaField = dynamic(() => import("./schema/schema-field").then((m) => m.SchemaField), { loading });
const CrewField = dynamic(() => import("./crew/crew-field").then((m) => m.CrewField), { loading });
const CrewRefField = dynamic(() => import("./crew/crew-field").then((m) => m.CrewRefField), {
  loading: () => null,
});
const AgentRefField = dynamic(() => import("./agent-choice").then((m) => m.AgentRefField), {
  loading: () => null,
});
const ToolsField = dynamic(() => import("./tools/tools-field").then((m) => m.ToolsField), { loading });
const TaskGuardrails = dynamic(() => import("./guardrails-field").then((m) => m.TaskGuardrails), {
  loading,
});
const NodePlanField = dynamic(() => import("./crew/plan-field").then((m) => m.NodePlanField), { loading });
const TaskLlm = dynamic(() => import("./llm-field").then((m) => m.TaskLlm), { loading });
const RuleNameField = dynamic(() => import("./rule-fields").then((m) => m.RuleNameField), { loading });
const OwnRuleField = dynamic(() => import("./rule-fields").then((m) => m.OwnRuleField), { loading });

type VariantComponent = (props: FieldProps & { field: Field }) => ReactNode;

/** One component per look: a node kind only names the look it wants. */
const variants: Record<FieldLook, VariantComponent> = {
  ...basicVariants,
  // Of a node every text is there, also an empty one.
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
  role: (props) => <RoleField {...props} />,
  schema: (props) => <SchemaField {...props} />,
  ways: (props) => <RoutesField {...props} />,
  value: ({ value, onChange, field: _field, ...labelProps }) => (
    <ValueField {...labelProps} value={asText(value)} onChange={(text) => onChange(orNothing(text))} />
  ),
  assignments: (props) => <AssignmentsField {...props} />,
  pairs: ({ field: _field, ...props }) => <PairsField {...props} />,
  crew: (props) => <CrewField {...props} />,
  crew_ref: (props) => <CrewRefField {...props} />,
  agent_ref: (props) => <AgentRefField {...props} />,
  tools: (props) => <ToolsField {...props} />,
  guardrails: ({ field: _field, ...props }) => <TaskGuardrails {...props} />,
  plan: (props) => <NodePlanField {...props} />,
  llm: (props) => <TaskLlm {...props} />,
  router_function: (props) => <RuleNameField {...props} />,
  own_rule: (props) => <OwnRuleField {...props} />,
  label: (props) => <LabelField {...props} />,
  tool: (props) => <ToolField {...props} />,
  arguments: (props) => <ArgumentsField {...props} />,
  code: ({ value, onChange, field: _field, hideLabel: _hide, ...labelProps }) => (
    <CodeArea {...labelProps} minLines={6} maxLines={30} value={asText(value)} onValueChange={onChange} />
  ),
};

/** A field of a node kind, as its look says. */
export function FieldView(props: FieldProps & { field: Field }) {
  const Variant = variants[props.field.as];
  return <Variant {...props} />;
}
