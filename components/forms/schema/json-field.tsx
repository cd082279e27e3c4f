"use client";

import { useState } from "react";
import { CodeArea } from "@/components/ui/input/code-area";
import { parseJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { FieldProps } from "../field-props";

/** A JSON value as text. While the text is invalid, the last valid value stays saved. */
export function JsonField({
  label,
  hideLabel,
  hint,
  error,
  value,
  onChange,
  check,
  onErrorChange,
}: Omit<FieldProps, "onChange"> & {
  onChange: (value: Json | undefined) => void;
  check?: ((value: Json) => string | null) | undefined;
  /** Called when the text becomes invalid or valid. */
  onErrorChange?: ((message: string | null) => void) | undefined;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? (value === undefined ? "" : JSON.stringify(value, null, 2));
  const draftError = draft === null ? null : jsonError(draft, check);
  return (
    <CodeArea
      label={label}
      hideLabel={hideLabel}
      hint={hint}
      error={draftError ?? error}
      language="json"
      compact
      minLines={4}
      value={shown}
      onValueChange={(text) => {
        setDraft(text);
        onErrorChange?.(jsonError(text, check));
        if (text.trim() === "") onChange(undefined);
        else if (jsonError(text, check) === null) onChange(parseJson(text));
      }}
      onBlur={() => {
        if (draftError === null) setDraft(null);
      }}
    />
  );
}

function jsonError(text: string, check?: (value: Json) => string | null): string | null {
  if (text.trim() === "") return null;
  try {
    return check?.(parseJson(text)) ?? null;
  } catch {
    return "Invalid JSON. The last valid version is kept.";
  }
}
