"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { Checkbox } from "@/components/ui/input/checkbox";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { ListEditor } from "@/components/ui/input/list-editor";
import { NumberField } from "@/components/ui/input/number-field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { SuggestField } from "@/components/ui/input/suggest-field";
import { Switch } from "@/components/ui/input/switch";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { Skeleton } from "@/components/ui/skeleton";
import { defined } from "@/server/domain/base/defined";
import type { BasicFieldVariant } from "@/server/domain/base/form";
import { textsOf } from "@/server/domain/base/guards";
import type { FieldData, FieldProps } from "../field-props";
import { DurationField, SecondsField } from "./duration-field";

const loading = () => <Skeleton className="h-16 w-full" />;
const EscalationField = dynamic(() => import("./escalation-field").then((m) => m.EscalationField), {
  loading,
});
const JsonField = dynamic(() => import("../schema/json-field").then((m) => m.JsonField), { loading });

export interface FieldVariantProps extends FieldProps {
  field: FieldData;
  aside?: ReactNode;
  isDisabled?: boolean | undefined;
}

const asNumber = (value: unknown) => (typeof value === "number" && !Number.isNaN(value) ? value : null);

function NumberVariant({
  value,
  onChange,
  field,
  isDisabled,
  show,
  keep,
  unit,
  ...labelProps
}: FieldVariantProps & { show: (kept: number) => number; keep: (shown: number) => number; unit?: string }) {
  const kept = asNumber(value);
  return (
    <NumberField
      {...labelProps}
      min={field.min}
      max={field.max}
      step={field.step}
      unit={field.unit ?? unit}
      placeholder={field.placeholder ?? "Default"}
      disabled={isDisabled}
      value={kept === null ? null : show(kept)}
      onValueChange={(next) => onChange(next === null ? field.empty : keep(next))}
    />
  );
}

const same = (amount: number) => amount;

function TextVariant({
  value,
  onChange,
  field,
  isDisabled,
  ...inputProps
}: FieldVariantProps & { type?: "password" }) {
  return (
    <TextField
      {...inputProps}
      mono={field.isMono}
      disabled={isDisabled}
      inputMode={field.keyboard}
      maxLength={field.longest}
      placeholder={field.placeholder}
      value={asText(value)}
      onValueChange={(text) => onChange(text === "" ? field.empty : text)}
    />
  );
}

/** One component per variant that any form may use. */
export const basicVariants: Record<BasicFieldVariant, (props: FieldVariantProps) => ReactNode> = {
  text: TextVariant,
  multiline: ({ value, onChange, field, isDisabled, ...labelProps }) => (
    <TextArea
      {...labelProps}
      mono={field.isMono}
      disabled={isDisabled}
      maxLength={field.longest}
      placeholder={field.placeholder}
      rows={field.lines ?? 3}
      spellCheck={field.isCode ? false : undefined}
      autoComplete={field.isCode ? "off" : undefined}
      value={asText(value)}
      onValueChange={(text) => onChange(text === "" ? field.empty : text)}
    />
  ),
  secret: ({ field, ...props }) => (
    <TextVariant {...props} field={{ ...field, isMono: true }} type="password" />
  ),
  suggest: ({ value, onChange, field, isDisabled: _disabled, ...labelProps }) => (
    <SuggestField
      {...labelProps}
      mono={field.isMono}
      maxLength={field.longest}
      placeholder={field.placeholder}
      suggestions={(field.suggestions ?? []).map((known) => ({ value: known }))}
      value={asText(value)}
      onValueChange={(text) => onChange(text === "" ? field.empty : text)}
    />
  ),
  number: (props) => {
    const { per = 1 } = props.field;
    // Large numbers need no fraction: 2,097,152 characters are 2097 thousand.
    const show = (kept: number) => (kept >= 100 * per ? Math.floor(kept / per) : kept / per);
    return <NumberVariant {...props} show={show} keep={(shown) => Math.round(shown * per)} />;
  },
  decimal: (props) => <NumberVariant {...props} show={same} keep={same} />,
  percent: (props) => (
    <NumberVariant
      {...props}
      unit="%"
      show={(share) => Math.round(share * 100)}
      keep={(percent) => percent / 100}
    />
  ),
  milliseconds: ({
    field: { placeholder, min = 0, max = Number.POSITIVE_INFINITY, empty },
    onChange,
    ...props
  }) => (
    <DurationField
      {...props}
      onChange={(ms) => onChange(typeof ms === "number" && ms >= min ? Math.min(max, ms) : empty)}
      placeholder={placeholder}
    />
  ),
  seconds: ({ field, ...props }) => <SecondsField {...props} placeholder={field.placeholder ?? "Default"} />,
  switch: ({ value, onChange, label, hint, field: { on = true, off = false } }) => (
    <Switch
      label={label}
      hint={hint}
      checked={value === on}
      onCheckedChange={(isOn) => onChange(isOn ? on : off)}
    />
  ),
  check: ({ value, onChange, label, hint, isDisabled, field: { on = true, off = false } }) => (
    <Checkbox
      label={label}
      hint={hint}
      checked={value === on}
      disabled={isDisabled}
      onCheckedChange={(isOn) => onChange(isOn ? on : off)}
    />
  ),
  choice: (props) => <ChoiceField {...props} />,
  several: ({ value, onChange, field, isDisabled: _disabled, ...labelProps }) => (
    <CheckboxGroup
      {...labelProps}
      className="grid grid-cols-2 gap-2"
      options={field.options ?? []}
      value={textsOf(value)}
      onValueChange={onChange}
    />
  ),
  texts: ({ field: { itemName, most, isMono }, onChange, ...props }) => (
    <TextsField
      {...props}
      itemName={itemName}
      isMono={isMono}
      onChange={(texts) => onChange(most === undefined ? texts : textsOf(texts).slice(0, most))}
    />
  ),
  json: ({ field: { check, empty }, onChange, ...props }) => (
    <JsonField {...props} check={check} onChange={(value) => onChange(value === undefined ? empty : value)} />
  ),
  escalation: ({ field: _field, ...props }) => <EscalationField {...props} />,
};

export const asText = (value: unknown) => (typeof value === "string" ? value : "");
export const orNothing = (text: string) => (text === "" ? undefined : text);

/** A list of texts; undefined if it is empty. */
function TextsField({
  value,
  onChange,
  itemName = "entry",
  isMono,
  ...labelProps
}: FieldProps & { itemName?: string | undefined; isMono?: boolean | undefined }) {
  return (
    <ListEditor
      {...labelProps}
      itemName={itemName}
      mono={isMono}
      items={Array.isArray(value) ? value.filter((item) => typeof item === "string") : []}
      onItemsChange={(items) => onChange(items.length === 0 ? undefined : items)}
    />
  );
}

/** One of several options, or none if the field has a placeholder for that. */
function ChoiceField({
  field,
  label,
  hint,
  error,
  value,
  onChange,
}: FieldProps & { field: Pick<FieldData, "options" | "unset" | "unsetHint" | "placeholder"> }) {
  const { unset, unsetHint, placeholder, options: offered = [] } = field;
  // An optional choice can be cleared again.
  const options =
    unset === undefined ? offered : [defined({ value: "", label: unset, hint: unsetHint }), ...offered];
  const isShort = options.length <= 2 && options.every(({ hint }) => !hint);
  if (!isShort)
    return (
      <Select
        label={label}
        hint={hint}
        error={error}
        placeholder={placeholder}
        options={options}
        value={asText(value) || (unset === undefined ? null : "")}
        onValueChange={(next) => onChange(unset === undefined ? next : orNothing(next))}
      />
    );
  return (
    <div className="flex flex-col gap-1.5">
      <span aria-hidden className="text-[13px] font-medium">
        {label}
      </span>
      <SegmentedControl
        label={label}
        fill
        options={options}
        value={asText(value) || (options[0]?.value ?? "")}
        onValueChange={onChange}
      />
      {hint && <p className="text-[13px] text-ink-3">{hint}</p>}
    </div>
  );
}
