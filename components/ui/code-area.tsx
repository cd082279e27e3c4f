"use client";

import type { Completion } from "@codemirror/autocomplete";
import type { Diagnostic } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import dynamic from "next/dynamic";
import { Field, type FieldWords } from "./field";
import { Skeleton } from "./skeleton";

export interface CodeAreaProps extends FieldWords {
  value: string;
  onValueChange: (value: string) => void;
  language?: "json" | "plain" | undefined;
  /** Faults in the text, by their place; for JSON its grammar is checked in any case. */
  lint?: ((text: string) => Diagnostic[]) | undefined;
  /** Offers at the cursor: `from` is where the part to be replaced begins. Null: none here. */
  complete?: (text: string, at: number) => { from: number; options: Completion[] } | null;
  /** Further CodeMirror extensions; keep the array's identity stable. */
  extensions?: Extension[] | undefined;
  placeholder?: string | undefined;
  /** In lines of text. */
  minLines?: number | undefined;
  maxLines?: number | undefined;
  readOnly?: boolean | undefined;
  /** Grows like a text field: no line numbers. */
  compact?: boolean | undefined;
  onBlur?: (() => void) | undefined;
  fieldClassName?: string | undefined;
}

const Editor = dynamic(() => import("./code-area-editor"), {
  ssr: false,
  loading: () => <Skeleton className="h-full min-h-8 w-full" />,
});

/** A small code editor; loads when it is first shown. */
export function CodeArea({ label, hideLabel, hint, error, aside, fieldClassName, ...editor }: CodeAreaProps) {
  const { minLines = editor.compact ? 1 : 4 } = editor;
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} group className={fieldClassName}>
      <div className="control overflow-hidden" style={{ minHeight: `${minLines * 20 + 14}px` }}>
        <Editor {...editor} label={label} minLines={minLines} invalid={!!error} />
      </div>
    </Field>
  );
}
