"use client";

import { useQuery } from "@tanstack/react-query";
import { Braces, SquareFunction, Trash2 } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { Select } from "@/components/ui/input/select";
import { withoutKey } from "@/server/domain/base/objects";
import { settingsOf, usesOf } from "@/server/domain/nodes";
import { expressionOf, type ToolArgument, templateOf } from "@/server/domain/nodes/tool-call";
import { AssignmentsField } from "../crew/assignments-field";
import type { FieldProps } from "../field-props";
import { DraftField } from "../fields/draft-field";
import { ExpressionField } from "../fields/expression-field";
import { TemplateField } from "../fields/template-field";
import { useFormScope } from "../form-scope";
import { hintOf } from "./input-field";
import { argumentFields, type InputField, optionOf, readField, readJson, textOf } from "./input-fields";
import { JsonField } from "./json-field";

type Arguments = Readonly<Record<string, ToolArgument>>;

/** The arguments of the node's tool: a field for each by its schema, or by name if the tool is unknown. */
export function ArgumentsField({ label, hint, error, onChange }: FieldProps) {
  const { data } = useQuery(useTrpc().tools.list.queryOptions());
  const { node } = useFormScope();
  const name = (node && usesOf(node).find((use) => use.kind === "tool")?.name) ?? "";
  const tool = data?.tools.find((each) => each.name === name);
  const args: Arguments = (node && settingsOf(node).args) ?? {};
  if (!tool) return <ByName label={label} hint={hint} error={error} args={args} onChange={onChange} />;
  const fields = argumentFields(tool.input_schema);
  const set = (key: string, next: ToolArgument | undefined) => {
    const others = withoutKey(args, key);
    onChange(next === undefined ? others : { ...others, [key]: next });
  };
  const strange = Object.keys(args).filter((key) => !fields.some((field) => field.key === key));
  return (
    <Field label={label} error={error} group>
      {fields.length === 0 && strange.length === 0 ? (
        <p className="text-[13px] text-ink-3">No arguments.</p>
      ) : null}
      <ul className="flex flex-col gap-3">
        {fields.map((field) => (
          <Argument
            // An argument of the same name of another tool must not inherit a half-typed text.
            key={`${name} ${field.key}`}
            field={field}
            value={args[field.key]}
            onChange={(next) => set(field.key, next)}
          />
        ))}
        {strange.map((key) => (
          <li key={key} className="flex items-center gap-2 text-[13px]">
            <span className="min-w-0 flex-1 text-waiting [overflow-wrap:anywhere]">
              {name} has no argument <span className="font-mono text-xs">{key}</span>.
            </span>
            <IconButton
              label={`Remove ${key}`}
              size="sm"
              variant="danger"
              icon={<Trash2 aria-hidden />}
              onClick={() => set(key, undefined)}
            />
          </li>
        ))}
      </ul>
    </Field>
  );
}

interface ArgumentProps {
  field: InputField;
  value: ToolArgument | undefined;
  onChange: (value: ToolArgument | undefined) => void;
}

function Argument({ field, value, onChange }: ArgumentProps) {
  const { key: name, isRequired: required } = field;
  const hint = hintOf(field);
  const expression = value === undefined ? null : expressionOf(value);
  const isComputed = expression !== null;
  return (
    <li className="flex flex-col gap-1.5 rounded-lg border border-line bg-bg p-2.5">
      <div className="flex min-h-7 items-center gap-2">
        <span className="min-w-0 flex-1 font-mono text-xs font-medium [overflow-wrap:anywhere]">{name}</span>
        {required ? null : <span className="text-[13px] text-ink-3">Optional</span>}
        <IconButton
          label={isComputed ? `Enter value for ${name}` : `Use expression for ${name}`}
          size="sm"
          icon={isComputed ? <Braces aria-hidden /> : <SquareFunction aria-hidden />}
          onClick={() =>
            onChange(isComputed ? readJson(expression) : { $expr: value === undefined ? "" : written(value) })
          }
        />
      </div>
      {isComputed ? (
        <ExpressionField
          label={name}
          hideLabel
          value={expression}
          onChange={(text) => onChange({ $expr: text })}
        />
      ) : (
        <Given field={field} value={value} onChange={onChange} />
      )}
      {hint ? <p className="text-[13px] text-ink-3">{hint}</p> : null}
      {required && value === undefined ? <p className="text-[13px] text-failed">Required.</p> : null}
    </li>
  );
}

/** A fixed value, or a template with values in double braces. */
function Given({ field, value, onChange }: ArgumentProps) {
  const { as, isRequired } = field;
  const named = { label: field.key, hideLabel: true } as const;
  switch (as) {
    case "text":
    case "line":
      return (
        <TemplateField
          {...named}
          minLines={1}
          value={value === undefined ? "" : (templateOf(value) ?? (typeof value === "string" ? value : ""))}
          onChange={(text) => {
            if (typeof text !== "string" || text === "") onChange(undefined);
            else onChange(text.includes("{{") ? { $template: text } : text);
          }}
        />
      );
    case "number":
      return (
        <DraftField
          {...named}
          value={typeof value === "number" ? String(value) : ""}
          onCommit={(text) => onChange(text.trim() === "" ? undefined : Number(text))}
          check={(text) => (text.trim() === "" ? null : (readField(field, text).message ?? null))}
        />
      );
    case "choice":
    case "switch": {
      const options = field.options ?? YES_NO;
      return (
        <Select
          {...named}
          options={[
            ...(isRequired ? [] : [{ value: "", label: "Not set" }]),
            ...options.map((option) => ({ value: textOf(option.value), label: option.title })),
          ]}
          value={value === undefined ? (isRequired ? null : "") : textOf(value)}
          placeholder="Choose…"
          onValueChange={(text) => onChange(optionOf({ ...field, options }, text)?.value)}
        />
      );
    }
    default:
      return <JsonField {...named} value={value} onChange={onChange} />;
  }
}

const YES_NO = [
  { value: true, title: "Yes" },
  { value: false, title: "No" },
];

/** All arguments as expressions by name; fixed values become JSON literals. */
function ByName({ args, onChange, ...field }: Omit<FieldProps, "value"> & { args: Arguments }) {
  const shown = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, written(value)]));
  return (
    <AssignmentsField
      {...field}
      hint='Each value is an expression: state.topic, or "fixed text" in quotes'
      keyLabel="Argument"
      itemName="row"
      value={shown}
      onChange={(next) =>
        onChange(
          Object.fromEntries(
            Object.entries(next).map(([name, expression]) => [
              name,
              shown[name] === expression ? args[name] : { $expr: expression },
            ]),
          ),
        )
      }
    />
  );
}

const written = (value: ToolArgument): string =>
  expressionOf(value) ?? JSON.stringify(templateOf(value) ?? value);
