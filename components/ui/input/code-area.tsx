"use client";

import dynamic from "next/dynamic";
import type { CodeAreaProps } from "./code-area-editor";
import { Field } from "./field";

const Editor = dynamic(() => import("./code-area-editor"), { ssr: false });

/** A small code editor; loads when it is first shown. */
export function CodeArea({ label, hideLabel, hint, error, aside, fieldClassName, ...editor }: CodeAreaProps) {
  const minLines = editor.minLines ?? (editor.compact ? 1 : 4);
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} group className={fieldClassName}>
      <div className="control overflow-hidden" style={{ minHeight: `${minLines * 20 + 14}px` }}>
        <Editor {...editor} label={label} minLines={minLines} invalid={!!error} />
      </div>
    </Field>
  );
}
