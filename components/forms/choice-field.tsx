"use client";

import { ListEditor } from "@/components/ui/list-editor";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import type { FieldData, FieldProps } from "./field-props";

export const asText = (value: unknown) => (typeof value === "string" ? value : "");
export const orNothing = (text: string) => (text === "" ? undefined : text);

/** A list of texts; none is nothing. */
export function TextsField({
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

/** One of several, which may be left open where the field says what holds then. */
export function ChoiceField({
  field,
  label,
  hint,
  error,
  value,
  onChange,
}: FieldProps & { field: Pick<FieldData, "options" | "unset" | "unsetHint" | "placeholder"> }) {
  const { unset, unsetHint, placeholder, options: offered = [] } = field;
  // What may be left open can be left open again.
  const options =
    unset === undefined
      ? offered
      : [{ value: "", label: unset, ...(unsetHint === undefined ? {} : { hint: unsetHint }) }, ...offered];
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
