"use client";

import { autocompletion, type Completion } from "@codemirror/autocomplete";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { EditorView, tooltips } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import CodeMirror from "@uiw/react-codemirror";
import { useMemo } from "react";
import type { FieldLabelProps } from "./field";

export interface CodeAreaProps extends FieldLabelProps {
  value: string;
  onValueChange: (value: string) => void;
  language?: "json" | "plain" | undefined;
  /** Errors in the text by position. JSON syntax is always checked. */
  lint?: ((text: string) => Diagnostic[]) | undefined;
  /** Completions at the cursor; `from` is the start of the text to replace. Null: none here. */
  complete?: (text: string, at: number) => { from: number; options: Completion[] } | null;
  /** Further CodeMirror extensions; keep the array's identity stable. */
  extensions?: Extension[] | undefined;
  placeholder?: string | undefined;
  /** In lines of text. */
  minLines?: number | undefined;
  maxLines?: number | undefined;
  readOnly?: boolean | undefined;
  /** Looks like a text field, without line numbers. */
  compact?: boolean | undefined;
  onBlur?: (() => void) | undefined;
  fieldClassName?: string | undefined;
}

const theme = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 10px" },
  ".cm-gutters": { backgroundColor: "transparent", border: "none", color: "var(--ink-3)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 4px 0 10px", minWidth: "24px" },
  ".cm-foldGutter .cm-gutterElement": { padding: "0 2px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in oklch, var(--accent) 22%, transparent)",
  },
  ".cm-placeholder": { color: "var(--ink-3)" },
  ".cm-matchingBracket": {
    backgroundColor: "color-mix(in oklch, var(--ink) 10%, transparent) !important",
    color: "inherit !important",
  },
  ".cm-tooltip": {
    zIndex: "60",
    marginTop: "4px",
    maxWidth: "min(26rem, calc(100vw - 16px))",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    boxShadow: "var(--shadow-2)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", fontSize: "12px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--ink)",
  },
  ".cm-diagnostic": { borderLeftWidth: "3px", fontFamily: "var(--font-sans)", fontSize: "13px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--waiting)" },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: "var(--accent)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--ink)" },
    { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--running)" },
    { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--ink-3)" },
    { tag: tags.comment, color: "var(--ink-3)" },
  ]),
);

/** The area for popups: the window with a margin. */
const inWindow = () => ({ left: 8, top: 8, right: window.innerWidth - 8, bottom: window.innerHeight - 8 });

/** CodeMirror in the app's style; `code-area.tsx` loads it on demand. */
export default function CodeAreaEditor({
  value,
  onValueChange,
  label,
  language = "plain",
  lint,
  complete,
  extensions,
  placeholder,
  minLines,
  maxLines = 20,
  readOnly,
  compact,
  invalid,
  onBlur,
}: CodeAreaProps & { invalid: boolean }) {
  const all = useMemo(() => {
    const list: Extension[] = [
      theme,
      colours,
      EditorView.lineWrapping,
      tooltips({ position: "fixed", tooltipSpace: inWindow }),
      EditorView.contentAttributes.of({
        "aria-label": label,
        // Scrollable areas must be reachable by Tab, even if not every tool knows that this one is editable.
        tabindex: "0",
        ...(invalid ? { "aria-invalid": "true" } : {}),
      }),
    ];
    if (language === "json") {
      const grammar = jsonParseLinter();
      list.push(json());
      list.push(linter((view) => (view.state.doc.length === 0 ? [] : grammar(view))));
    }
    if (lint) list.push(linter((view) => lint(view.state.doc.toString()), { delay: 250 }));
    if (complete)
      list.push(
        autocompletion({
          icons: false,
          override: [
            (context) => {
              const offer = complete(context.state.doc.toString(), context.pos);
              return offer && { from: offer.from, options: offer.options, filter: true };
            },
          ],
        }),
      );
    return extensions ? [...list, ...extensions] : list;
  }, [label, invalid, language, lint, complete, extensions]);

  return (
    <CodeMirror
      value={value}
      onChange={onValueChange}
      {...(onBlur ? { onBlur } : {})}
      theme="none"
      extensions={all}
      {...(placeholder === undefined ? {} : { placeholder })}
      readOnly={readOnly ?? false}
      editable={!readOnly}
      minHeight={`${(minLines ?? 1) * 20 + 12}px`}
      maxHeight={`${maxLines * 20 + 12}px`}
      // Tab leaves the editor, like any field.
      indentWithTab={false}
      basicSetup={{
        lineNumbers: !compact,
        foldGutter: !compact && language === "json",
        highlightActiveLine: false,
        highlightActiveLineGutter: false,
        autocompletion: !complete,
        searchKeymap: false,
        syntaxHighlighting: false,
      }}
    />
  );
}
