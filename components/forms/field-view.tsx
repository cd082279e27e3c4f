"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { CodeArea } from "@/components/ui/code-area";
import { NumberField } from "@/components/ui/number-field";
import { Skeleton } from "@/components/ui/skeleton";
import { Switch } from "@/components/ui/switch";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import type { Field, FieldLook } from "@/server/domain/nodes";
import { asText, ChoiceField, orNothing, TextsField } from "./choice-field";
import { DurationField, SecondsField } from "./duration-field";
import { ExpressionField } from "./expression-field";
import type { FieldProps } from "./field-props";
import { LabelField } from "./label-field";
import { RoleField } from "./role-field";
import { TemplateField } from "./template-field";
import { ValueField } from "./value-field";

const loading = () => <Skeleton className="h-16 w-full" />;
const WaysField = dynamic(() => import("./ways-field").then((m) => m.WaysField), { loading });
const AssignmentsField = dynamic(() => import("./assignments-field").then((m) => m.AssignmentsField), {
  loading,
});
const PairsField = dynamic(() => import("./pairs-field").then((m) => m.PairsField), { loading });
const ArgumentsField = dynamic(() => import("./arguments-field").then((m) => m.ArgumentsField), { loading });
const ToolField = dynamic(() => import("./tool-field").then((m) => m.ToolField), { loading });
const SchemaField = dynamic(() => import("./schema-field").then((m) => m.SchemaField), { loading });
const CrewField = dynamic(() => import("./crew-field").then((m) => m.CrewField), { loading });
const CrewRefField = dynamic(() => import("./crew-field").then((m) => m.CrewRefField), {
  loading: () => null,
});
const AgentRefField = dynamic(() => import("./agent-ref-field").then((m) => m.AgentRefField), {
  loading: () => null,
});
const ToolsField = dynamic(() => import("./tools-field").then((m) => m.ToolsField), { loading });
const TaskGuardrails = dynamic(() => import("./task-guardrails").then((m) => m.TaskGuardrails), {
  loading,
});
const PlanField = dynamic(() => import("./plan-field").then((m) => m.PlanField), { loading });
const TaskLlm = dynamic(() => import("./task-llm").then((m) => m.TaskLlm), { loading });
const RuleNameField = dynamic(() => import("./rule-fields").then((m) => m.RuleNameField), { loading });
const OwnRuleField = dynamic(() => import("./rule-fields").then((m) => m.OwnRuleField), { loading });
const EscalationField = dynamic(() => import("./escalation-field").then((m) => m.EscalationField), {
  loading,
});
const JsonField = dynamic(() => import("./json-field").then((m) => m.JsonField), { loading });

type Look = (props: FieldProps & { field: Field }) => ReactNode;

/** One component per look: a node kind only names the look it wants. */
const looks: Record<FieldLook, Look> = {
  text: ({ value, onChange, field: _field, ...words }) => (
    <TextField {...words} value={asText(value)} onValueChange={onChange} />
  ),
  multiline: ({ value, onChange, field: _field, ...words }) => (
    <TextArea {...words} rows={3} value={asText(value)} onValueChange={onChange} />
  ),
  template: ({ field, ...props }) => <TemplateField {...props} minLines={field.lines} />,
  expression: (props) => (
    <ExpressionField
      {...props}
      value={asText(props.value)}
      onChange={(text) => props.onChange(orNothing(text))}
    />
  ),
  number: ({ value, onChange, field: { min, max }, ...words }) => (
    <NumberField
      {...words}
      {...(min === undefined ? {} : { min })}
      {...(max === undefined ? {} : { max })}
      placeholder="Default"
      value={typeof value === "number" ? value : null}
      onValueChange={(next) => onChange(next === null ? undefined : Math.round(next))}
    />
  ),
  milliseconds: (props) => <DurationField {...props} />,
  switch: ({ value, onChange, label, hint }) => (
    <Switch label={label} hint={hint} checked={value === true} onCheckedChange={onChange} />
  ),
  choice: (props) => <ChoiceField {...props} />,
  role: (props) => <RoleField {...props} />,
  schema: (props) => <SchemaField {...props} />,
  json: (props) => <JsonField {...props} />,
  ways: (props) => <WaysField {...props} />,
  value: ({ value, onChange, field: _field, ...words }) => (
    <ValueField {...words} value={asText(value)} onChange={(text) => onChange(orNothing(text))} />
  ),
  assignments: (props) => <AssignmentsField {...props} />,
  pairs: ({ field: _field, ...props }) => <PairsField {...props} />,
  crew: (props) => <CrewField {...props} />,
  crew_ref: (props) => <CrewRefField {...props} />,
  agent_ref: (props) => <AgentRefField {...props} />,
  tools: (props) => <ToolsField {...props} />,
  guardrails: ({ field: _field, ...props }) => <TaskGuardrails {...props} />,
  plan: (props) => <PlanField {...props} />,
  llm: (props) => <TaskLlm {...props} />,
  router_function: (props) => <RuleNameField {...props} />,
  own_rule: (props) => <OwnRuleField {...props} />,
  seconds: ({ field: _field, ...props }) => <SecondsField {...props} placeholder="As usual" />,
  texts: ({ field: { itemName }, ...props }) => <TextsField {...props} itemName={itemName} />,
  escalation: ({ field: _field, ...props }) => <EscalationField {...props} />,
  label: (props) => <LabelField {...props} />,
  tool: (props) => <ToolField {...props} />,
  arguments: (props) => <ArgumentsField {...props} />,
  code: ({ value, onChange, field: _field, hideLabel: _hide, ...words }) => (
    <CodeArea {...words} minLines={6} maxLines={30} value={asText(value)} onValueChange={onChange} />
  ),
};

/** A field of a node kind, as its look says. */
export function FieldView(props: FieldProps & { field: Field }) {
  const Look = looks[props.field.as];
  return <Look {...props} />;
}
