"use client";

import { z } from "zod";
import { Guardrail } from "@/server/domain/role";
import type { FieldProps } from "./field-view";
import { JsonField } from "./json-field";

const Guardrails = z.array(Guardrail);

/** Guardrails of one task as JSON; few need any. */
export function GuardrailsField({ value, onChange, ...words }: FieldProps) {
  return (
    <JsonField
      {...words}
      // None is what stands there when nobody said anything.
      value={Array.isArray(value) && value.length === 0 ? undefined : value}
      onChange={(next) => onChange(next === undefined ? [] : Guardrails.parse(next))}
      check={(next) => {
        const read = Guardrails.safeParse(next);
        if (read.success) return null;
        const [issue] = read.error.issues;
        return [issue?.path.join("."), issue?.message].filter(Boolean).join(": ");
      }}
    />
  );
}
