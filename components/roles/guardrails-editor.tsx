"use client";

import { useState } from "react";
import { z } from "zod";
import { CodeArea } from "@/components/ui/code-area";
import { Guardrail, type RoleDefinition } from "@/server/domain/role";
import type { RoleFormProps } from "./role-form";

const Guardrails = z.array(Guardrail);

/** Guardrails as JSON; few roles have any. */
export function GuardrailsEditor({
  role,
  onChange,
  onTextFault,
}: Pick<RoleFormProps, "onChange" | "onTextFault"> & { role: RoleDefinition }) {
  const [text, setText] = useState(() =>
    role.guardrails.length > 0 ? JSON.stringify(role.guardrails, null, 2) : "",
  );
  const [fault, setFault] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    const read = readGuardrails(next);
    setFault(read.fault);
    onTextFault("guardrails", read.fault);
    if (read.fault === null) onChange({ guardrails: read.guardrails });
  };
  return (
    <CodeArea
      label="Guardrails"
      aside="JSON"
      language="json"
      value={text}
      onValueChange={change}
      error={fault ?? undefined}
      hint="What must hold of what the role takes and gives"
      placeholder='[{ "name": "short", "kind": "expression", "spec": "size(output.text) < 2000" }]'
      minLines={3}
    />
  );
}

function readGuardrails(text: string): { guardrails: Guardrails; fault: string | null } {
  if (text.trim() === "") return { guardrails: [], fault: null };
  try {
    const read = Guardrails.safeParse(JSON.parse(text));
    if (read.success) return { guardrails: read.data, fault: null };
    const [issue] = read.error.issues;
    return { guardrails: [], fault: `${issue?.path.join(".")}: ${issue?.message}` };
  } catch {
    return { guardrails: [], fault: "This is not JSON yet. The marks in the text say where." };
  }
}
type Guardrails = z.infer<typeof Guardrails>;
