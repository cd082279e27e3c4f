"use client";

import { Select } from "@/components/ui/select";
import { ON_LIMITS } from "@/server/domain/agent/on-limit";
import type { OnLimit } from "@/server/domain/agent/role";
import { choicesOf } from "@/server/domain/base/form";

/** What happens where a limit of the run stands in an agent's way. `unset`: who says so where nothing is chosen here. */
export function OnLimitField({
  value,
  unset,
  onValueChange,
}: {
  value: OnLimit | undefined;
  unset: string;
  onValueChange: (value: OnLimit | undefined) => void;
}) {
  return (
    <Select<OnLimit | "">
      label="At a limit of the run"
      value={value ?? ""}
      onValueChange={(next) => onValueChange(next === "" ? undefined : next)}
      fieldClassName="max-w-80"
      options={[{ value: "", label: unset }, ...choicesOf(ON_LIMITS)]}
    />
  );
}
