"use client";

import { Select } from "@/components/ui/select";
import type { RoleDefinition } from "@/server/domain/agent/role";

type Confirmation = NonNullable<RoleDefinition["confirmation"]>;
type Choice = "run" | Confirmation["kind"];

/** When an agent of this role asks a person before it acts. */
export function ConfirmationField({
  value,
  onValueChange,
}: {
  value: Confirmation | undefined;
  onValueChange: (value: Confirmation | undefined) => void;
}) {
  const kept = value?.kind === "tools" || value?.kind === "when" ? value : null;
  return (
    <Select<Choice>
      label="Asks a person before acting"
      value={value?.kind ?? "run"}
      onValueChange={(kind) => onValueChange(kept?.kind === kind ? kept : toConfirmation(kind))}
      hint="Whether a person agrees to what its tools are about to do. Where the run or the installation is stricter, that holds."
      fieldClassName="max-w-80"
      options={[
        { value: "run", label: "As the run says" },
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
