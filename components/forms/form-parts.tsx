"use client";

import clsx from "clsx";
import type { ReactNode } from "react";
import { Disclosure } from "@/components/ui/disclosure";
import { Field as Labelled } from "@/components/ui/input/field";
import { defined } from "@/server/domain/base/defined";
import {
  type FieldKey,
  type FormField,
  type FormGroup,
  type FormPart,
  settingAt,
  withSetting,
} from "@/server/domain/base/form";
import type { FieldData } from "./field-props";
import { basicVariants } from "./fields/basic-fields";

/** Current properties of a field that override the declared ones. */
export type FieldNow = {
  [K in "hint" | "options" | "suggestions" | "placeholder" | "unset" | "unsetHint" | "max"]?:
    | FieldData[K]
    | undefined;
} & {
  error?: string | undefined;
  aside?: ReactNode;
  isDisabled?: boolean | undefined;
};

export type FieldsNow<C> = { readonly [K in FieldKey<C>]?: FieldNow | undefined };

export interface FormPartsProps<C extends object, S extends string> {
  parts: readonly FormPart<C, S>[];
  value: C;
  onChange: (value: C) => void;
  /** By field key. */
  now?: FieldsNow<C>;
  /** By field key. */
  errors?: Readonly<Record<string, string>> | undefined;
  /** By slot name. */
  slots?: Readonly<Record<S, ReactNode>>;
  /** Wraps each field, such as in the target of a problem. */
  frame?: (key: string, field: ReactNode) => ReactNode;
}

/** A form described by data. Slots hold what no field can express. */
export function FormParts<C extends object, S extends string = never>(props: FormPartsProps<C, S>) {
  const { parts, value } = props;
  return parts
    .filter((part) => !("showIf" in part && part.showIf) || part.showIf(value))
    .map((part) => <PartView key={keyOf(part)} {...props} part={part} />);
}

function keyOf<C, S extends string>(part: FormPart<C, S>): string {
  if ("slot" in part) return `slot ${part.slot}`;
  if ("text" in part) return typeof part.text === "string" ? part.text : "text";
  if (!("parts" in part)) return part.key;
  const [first] = part.parts;
  return `${part.as} ${first ? keyOf(first) : ""}`;
}

function PartView<C extends object, S extends string>({
  part,
  ...props
}: FormPartsProps<C, S> & { part: FormPart<C, S> }) {
  if ("slot" in part) return props.slots?.[part.slot];
  if ("text" in part)
    return (
      <p className="text-[13px] text-ink-2">
        {typeof part.text === "string" ? part.text : part.text(props.value)}
      </p>
    );
  if ("parts" in part) return <Group {...props} group={part} />;
  return <OneField {...props} field={part} />;
}

function Group<C extends object, S extends string>({
  group,
  ...props
}: FormPartsProps<C, S> & { group: FormGroup<C, S> }) {
  const inner = <FormParts {...props} parts={group.parts} />;
  switch (group.as) {
    case "box":
      return (
        <Disclosure variant="box" title={group.title} isOpen={group.isOpen?.(props.value) || undefined}>
          {inner}
        </Disclosure>
      );
    case "group":
      return (
        <Labelled label={group.title} hint={group.hint} group>
          {inner}
        </Labelled>
      );
    case "columns":
      return (
        <div className="@container">
          <div
            className={clsx(
              "grid grid-cols-1 gap-3",
              group.most === 3
                ? "@md:grid-cols-3"
                : group.areWide
                  ? "@lg:grid-cols-2"
                  : "@3xs:pointer-fine:grid-cols-2 @sm:grid-cols-2",
            )}
          >
            {inner}
          </div>
        </div>
      );
  }
}

function OneField<C extends object, S extends string>({
  field,
  value,
  onChange,
  now,
  errors = {},
  frame,
}: FormPartsProps<C, S> & { field: FormField<C> }) {
  const given: FieldNow | undefined = now?.[field.key];
  const { error, aside, isDisabled, ...overrides } = given ?? {};
  const data = { ...field, ...defined(overrides) };
  const usual = data.unset === undefined ? field.usual?.(value) : undefined;
  const Variant = basicVariants[field.as];
  const control = (
    <Variant
      field={data}
      label={data.label}
      hint={data.hint}
      error={error ?? errors[field.key]}
      aside={aside ?? data.aside}
      isDisabled={isDisabled}
      value={settingAt(value, field.key) ?? usual}
      onChange={(next) => onChange(withSetting(value, field.key, next === usual ? undefined : next))}
    />
  );
  return frame ? frame(field.key, control) : control;
}
