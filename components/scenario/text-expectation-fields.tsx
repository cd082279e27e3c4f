"use client";

import { useFormScope } from "@/components/forms/form-scope";
import { keySuggestions } from "@/components/forms/key-facts";
import { JsonField } from "@/components/forms/schema/json-field";
import { Button } from "@/components/ui/button";
import { Select } from "@/components/ui/select";
import { SuggestField } from "@/components/ui/suggest-field";
import { TextField } from "@/components/ui/text-field";
import { isObject } from "@/server/domain/base/guards";
import { type Json, type JsonSchema, Json as JsonValue } from "@/server/domain/base/values";
import type { ExpectationOf } from "@/server/domain/scenario/expectation";
import { type Change, changed } from "./changed";
import type { ExpectationProps } from "./expectation-props";

/** What can be asked of a value. */
const LOOKS = [
  { value: "equals", label: "Is exactly" },
  { value: "contains", label: "Contains" },
  { value: "excludes", label: "Does not contain" },
  { value: "matches", label: "Matches a pattern" },
  { value: "schema", label: "Has a shape" },
] as const;

/** What a value of the end must be, contain or look like. */
export function TextExpectationFields({
  expectation,
  faultOf,
  onChange,
}: ExpectationProps<ExpectationOf<"text">>) {
  const scope = useFormScope();
  const { key, of } = expectation;
  const looks = LOOKS.filter(({ value }) => expectation[value] !== undefined);
  const left = LOOKS.filter(({ value }) => expectation[value] === undefined);
  const set = (next: Change<ExpectationOf<"text">>) => onChange(changed(expectation, next));
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <SuggestField
          label="Key"
          mono
          error={faultOf("key")}
          suggestions={keySuggestions(scope)}
          value={key}
          onValueChange={(next) => set({ key: next.trim().replace(/^(state|output)\./, "") })}
        />
        <Select
          label="Of"
          options={[
            { value: "state", label: "The state at the end" },
            { value: "output", label: "What the run hands out" },
          ]}
          value={of}
          onValueChange={(next) => set({ of: next })}
        />
      </div>
      {looks.map((look) => (
        <LookField
          key={look.value}
          look={look}
          value={expectation[look.value]}
          error={faultOf(look.value)}
          onChange={(value) => set({ [look.value]: value })}
          onDrop={looks.length > 1 ? () => set({ [look.value]: undefined }) : undefined}
        />
      ))}
      {left.length > 0 ? (
        <Select
          label={looks.length === 0 ? "What it must say" : "And also"}
          hideLabel={looks.length > 0}
          size="sm"
          placeholder={looks.length === 0 ? "Choose…" : "And also…"}
          options={left}
          value={null}
          onValueChange={(look) => set({ [look]: look === "schema" ? { type: "string" } : "" })}
          fieldClassName="max-w-56"
        />
      ) : null}
    </>
  );
}

interface LookProps {
  look: (typeof LOOKS)[number];
  value: Json | JsonSchema | undefined;
  error: string | undefined;
  onChange: (value: Json | JsonSchema) => void;
}

function LookField({ onDrop, ...props }: LookProps & { onDrop: (() => void) | undefined }) {
  const { label } = props.look;
  return (
    <div className="flex flex-col gap-1">
      <LookValue {...props} />
      {onDrop ? (
        <Button size="sm" variant="ghost" className="self-start" onClick={onDrop}>
          Remove “{label}”
        </Button>
      ) : null}
    </div>
  );
}

function LookValue({ look: { value: look, label }, value, error, onChange }: LookProps) {
  if (look === "equals")
    return (
      <JsonField
        label={label}
        hint="As JSON: a text stands in quotes."
        error={error}
        value={value}
        onChange={(next) => onChange(asJson(next))}
      />
    );
  if (look === "schema")
    return (
      <JsonField
        label={label}
        hint="JSON Schema"
        error={error}
        value={value}
        check={(json) => (isObject(json) ? null : "A schema is an object { … }")}
        onChange={(next) => onChange(isObject(next) ? next : { type: "string" })}
      />
    );
  return (
    <TextField
      label={label}
      error={error}
      mono={look === "matches"}
      hint={look === "matches" ? "A regular expression; it may match anywhere." : undefined}
      value={typeof value === "string" ? value : ""}
      onValueChange={onChange}
    />
  );
}

/** What a JSON field gives; nothing written is null. */
const asJson = (value: unknown): Json => {
  const read = JsonValue.safeParse(value);
  return read.success ? read.data : null;
};
