"use client";

import { useState } from "react";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";

export interface DraftFieldProps {
  label: string;
  hideLabel?: boolean;
  hint?: string;
  placeholder?: string;
  mono?: boolean;
  multiline?: boolean;
  value: string;
  onCommit: (value: string) => void;
  /** Why a text is invalid; null if it is valid. Only valid texts are saved. */
  check: (value: string) => string | null;
  fieldClassName?: string;
  /** Focuses the field and selects its text. One-line fields only. */
  isNew?: boolean;
}

const focusAndSelect = (input: HTMLInputElement | null) => {
  input?.focus();
  input?.select();
};

/** A text that is saved only if valid. An invalid draft is discarded on blur. */
export function DraftField({
  value,
  onCommit,
  check,
  multiline,
  isNew = false,
  ...labelProps
}: DraftFieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? value;
  const props = {
    ...labelProps,
    value: text,
    error: draft === null ? undefined : (check(draft) ?? undefined),
    onValueChange: (next: string) => {
      setDraft(next);
      if (check(next) === null) onCommit(next);
    },
    onBlur: () => setDraft(null),
  };
  return multiline ? (
    <TextArea rows={2} {...props} />
  ) : (
    <TextField {...props} ref={isNew ? focusAndSelect : null} />
  );
}
