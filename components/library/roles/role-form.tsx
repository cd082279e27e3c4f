"use client";

import type { Completion } from "@codemirror/autocomplete";
import type { ReactNode } from "react";
import { GuardrailsField } from "@/components/forms/fields/guardrails-field";
import { SchemaField } from "@/components/forms/schema/schema-field";
import { ToolPicker } from "@/components/forms/tools/tool-picker";
import { UncheckedNotes } from "@/components/forms/unchecked-notes";
import { CodeArea } from "@/components/ui/input/code-area";
import { ListEditor } from "@/components/ui/input/list-editor";
import { NumberField } from "@/components/ui/input/number-field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { ON_LIMITS } from "@/server/domain/agent/on-limit";
import { KNOWLEDGE, type Knowledge, type OnLimit, type RoleDefinition } from "@/server/domain/agent/role";
import { choicesOf } from "@/server/domain/base/form";
import type { JsonSchema } from "@/server/domain/base/values";
import { checkTemplate } from "@/server/domain/text/template/template";
import { RoleAppearance } from "./role-appearance";
import { itemErrors, type RoleErrors, STANDARD_TEMPLATE } from "./role-draft";
import { RoleRuleField } from "./role-rule-field";

export interface RoleFormProps {
  role: RoleDefinition;
  onChange: (change: Partial<RoleDefinition>) => void;
  errors: RoleErrors;
  /** Called when a part edited as text becomes invalid or valid. */
  onTextErrorChange: (field: string, message: string | null) => void;
}

export function RoleForm(props: RoleFormProps) {
  return (
    <div className="flex flex-col gap-8">
      <Identity {...props} />
      <Answers {...props} />
      <Schemas {...props} />
      <Rights {...props} />
    </div>
  );
}

function Identity({ role, onChange, errors }: RoleFormProps) {
  return (
    <Part title="About">
      <div className="flex items-start gap-4">
        <RoleAppearance name={role.name} icon={role.icon} color={role.color} onChange={onChange} />
        <TextField
          label="Name"
          value={role.name}
          onValueChange={(name) => onChange({ name })}
          error={errors.name}
          maxLength={80}
          hint="Workflows reference the role by name. Renaming updates them."
          fieldClassName="flex-1"
        />
      </div>
      <TextArea
        label="Description"
        value={role.description}
        onValueChange={(description) => onChange({ description })}
        error={errors.description}
        rows={2}
        placeholder="What this role is for, in a sentence or two"
      />
      <ListEditor
        label="Goals"
        itemName="goal"
        placeholder="What it should achieve"
        items={role.goals}
        onItemsChange={(goals) => onChange({ goals })}
        error={errors.goals}
        itemErrors={itemErrors(errors, "goals")}
      />
      <ListEditor
        label="Responsibilities"
        itemName="responsibility"
        placeholder="What it does, and how"
        items={role.responsibilities}
        onItemsChange={(responsibilities) => onChange({ responsibilities })}
        error={errors.responsibilities}
        itemErrors={itemErrors(errors, "responsibilities")}
      />
    </Part>
  );
}

function Answers(props: RoleFormProps) {
  const { role, onChange, onTextErrorChange } = props;
  const field = (
    <RoleRuleField
      role={role}
      onChange={(rule) => onChange({ rule })}
      onTextErrorChange={onTextErrorChange}
    />
  );
  return role.rule ? <Part title="Rule">{field}</Part> : <Prompt {...props} field={field} />;
}

function Prompt({ role, onChange, errors, field }: RoleFormProps & { field: ReactNode }) {
  const hasTemplate = role.system_prompt_template !== undefined;
  return (
    <Part
      title="Prompt"
      aside={
        <SegmentedControl
          size="sm"
          label="Prompt"
          value={hasTemplate ? "own" : "standard"}
          onValueChange={(next) =>
            onChange({ system_prompt_template: next === "own" ? STANDARD_TEMPLATE : undefined })
          }
          options={[
            { value: "standard", label: "Standard" },
            { value: "own", label: "Custom template" },
          ]}
        />
      }
    >
      {field}
      {hasTemplate ? (
        <CodeArea
          label="Prompt template"
          hideLabel
          value={role.system_prompt_template ?? ""}
          onValueChange={(system_prompt_template) => onChange({ system_prompt_template })}
          lint={lintTemplate}
          complete={completeTemplate}
          error={errors.system_prompt_template}
          hint="Type {{ to insert a value"
          minLines={10}
          compact
        />
      ) : (
        <p className="text-[13px] text-ink-2">Generated from the description, goals and responsibilities.</p>
      )}
      <Select<Knowledge | "">
        label="Knowledge"
        value={role.knowledge ?? ""}
        onValueChange={(next) => onChange({ knowledge: next === "" ? undefined : next })}
        hint="What answers can rely on. Material means the role's input and tool results"
        fieldClassName="max-w-80"
        options={[{ value: "", label: "General knowledge for gaps" }, ...choicesOf(KNOWLEDGE)]}
      />
    </Part>
  );
}

function Schemas({ role, onChange, onTextErrorChange }: RoleFormProps) {
  return (
    <Part title="Input and output">
      <SchemaField
        label="Input"
        hint="Data this role needs"
        itemName="field"
        value={role.input_schema}
        onChange={(schema) => onChange({ input_schema: schema })}
        onErrorChange={(error) => onTextErrorChange("input_schema", error)}
      />
      <UncheckedNotes schema={role.input_schema} label="Input" />
      <SchemaField
        label="Output"
        hint="Data this role returns"
        itemName="field"
        value={role.output_schema}
        onChange={(schema) => onChange({ output_schema: schema })}
        onErrorChange={(error) => onTextErrorChange("output_schema", error)}
      />
      <UncheckedNotes schema={role.output_schema} label="Output" />
    </Part>
  );
}

function Rights({ role, onChange, errors, onTextErrorChange }: RoleFormProps) {
  return (
    <Part title="Permissions and rules">
      <ToolPicker
        tools={role.tools}
        onChange={(tools) => onChange({ tools })}
        error={errors.tools ?? Object.values(itemErrors(errors, "tools"))[0]}
      />
      <GuardrailsField
        label="Guardrails"
        hint="Checks on the role's input and output"
        value={role.guardrails}
        keys={{ input: keysOf(role.input_schema), output: keysOf(role.output_schema) }}
        onChange={(guardrails) => onChange({ guardrails })}
        onErrorChange={(error) => onTextErrorChange("guardrails", error)}
      />
      <ConfirmationField
        value={role.confirmation}
        onValueChange={(confirmation) => onChange({ confirmation })}
      />
      <Select<OnLimit | "">
        label="On run limit"
        value={role.on_limit ?? ""}
        onValueChange={(next) => onChange({ on_limit: next === "" ? undefined : next })}
        fieldClassName="max-w-80"
        options={[{ value: "", label: "Inherit from run" }, ...choicesOf(ON_LIMITS)]}
      />
      <NumberField
        label="Version"
        value={role.version}
        min={1}
        onValueChange={(version) => onChange({ version: version ?? 1 })}
        fieldClassName="max-w-36"
        hint="Your own version number, included in exports"
      />
    </Part>
  );
}

const keysOf = (schema: JsonSchema | undefined): string[] => {
  const properties = schema?.properties;
  return properties && typeof properties === "object" ? Object.keys(properties) : [];
};

function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-5 border-t border-line pt-5 first:border-0 first:pt-0">
      <header className="flex min-h-7 items-center gap-3">
        <h2 className="flex-1 text-[15px] font-semibold">{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

const lintTemplate = (text: string) =>
  checkTemplate(text).map(({ message, from, to }) => ({
    message,
    from: Math.min(from, text.length),
    to: Math.min(to, text.length),
    severity: "error" as const,
  }));

const values: Completion[] = [
  { label: "role.name" },
  { label: "role.description" },
  { label: "goals", detail: "one per line" },
  { label: "responsibilities", detail: "one per line" },
  { label: "backstory", detail: "the crew agent's backstory" },
  { label: "team", detail: "the crew's other members" },
];

/** Suggests the variables of a prompt after `{{`. */
function completeTemplate(text: string, at: number) {
  const word = /\{\{-?\s*([\w.]*)$/.exec(text.slice(0, at));
  return word ? { from: at - (word[1]?.length ?? 0), options: values } : null;
}

type Confirmation = NonNullable<RoleDefinition["confirmation"]>;
type Choice = "run" | Confirmation["kind"];

/** When an agent of this role asks a person before it acts. */
function ConfirmationField({
  value,
  onValueChange,
}: {
  value: Confirmation | undefined;
  onValueChange: (value: Confirmation | undefined) => void;
}) {
  const kept = value?.kind === "tools" || value?.kind === "when" ? value : null;
  return (
    <Select<Choice>
      label="Approval for actions"
      value={value?.kind ?? "run"}
      onValueChange={(kind) => onValueChange(kept?.kind === kind ? kept : toConfirmation(kind))}
      hint="When a person must approve tool calls. Stricter run or server settings take precedence"
      fieldClassName="max-w-80"
      options={[
        { value: "run", label: "Inherit from run" },
        { value: "never", label: "Never" },
        { value: "risky", label: "Before risky actions" },
        { value: "always", label: "Always" },
        ...(kept
          ? [{ value: kept.kind, label: kept.kind === "tools" ? "For some tools" : "On a condition" }]
          : []),
      ]}
    />
  );
}

function toConfirmation(kind: Choice): Confirmation | undefined {
  if (kind === "never" || kind === "always") return { kind };
  if (kind === "risky") return { kind, threshold: "HIGH", confirm_unknown: true };
  return undefined;
}
