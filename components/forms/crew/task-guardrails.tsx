"use client";

import { z } from "zod";
import { Guardrail } from "@/server/domain/agent/role";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { GuardrailsField } from "../guardrails-field";

const Guardrails = z.array(Guardrail);

/** Guardrails of one task, beside those of its role. */
export function TaskGuardrails({ value, ...props }: FieldProps) {
  const { node } = useFormScope();
  return (
    <GuardrailsField
      {...props}
      value={Guardrails.safeParse(value).data ?? []}
      keys={{
        input: node ? [...node.input_keys, ...node.optional_input_keys] : [],
        output: node?.output_keys ?? [],
      }}
    />
  );
}
