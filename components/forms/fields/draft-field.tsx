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
  /** What is wrong with a text; null if nothing is. Only what is right is saved. */
  check: (value: string) => string | null;
  fieldClassName?: string;
  /** Takes the focus when it appears, with its text selected. One-line fields only. */
  isNew?: boolean;
}

const focusAndSelect = (input: HTMLInputElement | null) => {
  input?.focus();
  input?.select();
};

/** A text that must not be saved half-written: what is not right stays here, and is given up on leaving. */
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
