"use client";

import type { EditorView } from "@codemirror/view";
import { useContext } from "react";
import { CodeArea } from "@/components/ui/input/code-area";
import { checkExpression, expressionReads, withStateNamed } from "@/server/domain/text/expression/expression";
import { offeredFunctions } from "@/server/domain/text/expression/expression-functions";
import { type FormScope, FormScopeContext, writersOf } from "../form-scope";
import { variableLabels } from "./variable-labels";

export interface ExpressionFieldProps {
  label: string;
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  value: string;
  onChange: (text: string) => void;
  result?: "bool" | "any" | undefined;
  placeholder?: string | undefined;
  /** Names it can read besides the state, such as `output`. */
  variables?: readonly string[] | undefined;
}

const CONDITION_HELP =
  "If a key is missing, the entire condition is false, even when negated with !. Use has(state.key) to check first. Start typing to see functions such as contains, replace, sort, math.round and now.";

/**
 * A CEL expression. Suggests the keys that can exist here and marks errors while typing. Outside of a workflow, keys are
 * unknown, so it neither suggests nor checks them.
 */
export function ExpressionField({
  value,
  onChange,
  result = "any",
  variables,
  ...labelProps
}: ExpressionFieldProps) {
  const scope = useContext(FormScopeContext);
  return (
    <CodeArea
      {...labelProps}
      hint={
        result === "bool" ? [labelProps.hint, CONDITION_HELP].filter(Boolean).join(". ") : labelProps.hint
      }
      compact
      value={value}
      onValueChange={onChange}
      // A bare key is saved and shown with its prefix.
      onBlur={() => {
        const written = withStateNamed(value, scope?.keys.map(({ key }) => key) ?? []);
        if (written !== value) onChange(written);
      }}
      placeholder={labelProps.placeholder ?? 'key == "value"'}
      lint={(text) => lintExpression(text, result, scope)}
      complete={(text, at) => completeExpression(text, at, scope, variables ?? [])}
    />
  );
}

/** An error in an expression, with its fix if there is one. */
interface ExpressionMark {
  message: string;
  from: number;
  to: number;
  severity: "error" | "warning" | "info";
  actions?: { name: string; apply: (view: EditorView) => void }[];
}

export function lintExpression(
  text: string,
  result: "bool" | "any",
  scope: FormScope | null,
): ExpressionMark[] {
  if (text.trim() === "") return [];
  const known = scope ? { keys: scope.keys.map(({ key }) => key) } : {};
  const written = withStateNamed(text, known.keys ?? []);
  // Added prefixes would shift the positions, so check the text as written.
  if (written !== text) return lintExpression(written, result, scope).length > 0 ? lintRaw(text, result) : [];
  const diagnostics = checkExpression(text, { result, ...known }).map(({ message, from, to }) => ({
    message,
    from: Math.min(from, text.length),
    to: Math.min(Math.max(to, from), text.length),
    severity: message.startsWith("No node before") ? ("warning" as const) : ("error" as const),
  }));
  return result === "bool" && diagnostics.length === 0 ? negatedKeys(text, scope) : diagnostics;
}

const lintRaw = (text: string, result: "bool" | "any") =>
  checkExpression(text, { result }).map(({ message, from, to }) => ({
    message,
    from: Math.min(from, text.length),
    to: Math.min(Math.max(to, from), text.length),
    severity: "error" as const,
  }));

/** Negated keys that may be missing: people expect "not x" to hold without x, but it does not. */
function negatedKeys(text: string, scope: FormScope | null) {
  const certain = new Set(scope?.keys.filter((key) => key.certain).map(({ key }) => key));
  const reads = expressionReads(text).filter(({ variable }) => variable === "state");
  const asked = new Set(reads.filter(({ optional }) => optional).map(({ key }) => key));
  return reads
    .filter(
      ({ key, negated, optional }) =>
        negated && !optional && /^\w+$/.test(key) && !asked.has(key) && !certain.has(key),
    )
    .map(({ key, from, to }) => ({
      from,
      to,
      severity: "info" as const,
      message: `If “${key}” is missing, the condition is false, even when negated with “!”.`,
      actions: [
        {
          name: "Make true if missing",
          apply: (view: EditorView) =>
            view.dispatch({
              changes: { from: 0, to: view.state.doc.length, insert: trueWhereMissing(text, key) },
            }),
        },
      ],
    }));
}

/** The condition, but true if the key is missing. */
export const trueWhereMissing = (text: string, key: string) => `!has(state.${key}) || (${text.trim()})`;

const open = (name: string, takes: boolean) => (takes ? `${name}(` : `${name}()`);
const offered = offeredFunctions();
/** The names after dots, without duplicates. */
const methods = [
  ...new Map(offered.flatMap((entry) => (entry.on ? [[entry.name, entry]] : []))).values(),
].map(({ name, hint, args }) => ({ label: name, detail: hint, apply: open(name, args.length > 0) }));
const functions = [
  { label: "has", detail: "whether a key exists", apply: "has(state." },
  { label: "now", detail: "the time of this step" },
  ...[...new Map(offered.flatMap((entry) => (entry.on ? [] : [[entry.name, entry]]))).values()].map(
    ({ name, hint, args }) => ({ label: name, detail: hint, apply: open(name, args.length > 0) }),
  ),
];
const macros = [
  { label: "exists", detail: "true if any item matches", apply: "exists(item, item " },
  { label: "all", detail: "true if all items match", apply: "all(item, item " },
  { label: "filter", detail: "the items that match", apply: "filter(item, item " },
  { label: "map", detail: "a new value for each item", apply: "map(item, item " },
];

export function completeExpression(
  text: string,
  at: number,
  scope: FormScope | null,
  variables: readonly string[],
) {
  const keys = scope?.keys.map((key) => ({ ...key, writers: writersOf(scope, key) })) ?? [];
  const before = text.slice(0, at);
  const afterState = /\bstate\.\??([A-Za-z0-9_]*)$/.exec(before);
  if (afterState)
    return {
      from: at - (afterState[1]?.length ?? 0),
      options: keys.map(({ key, writers, certain }) => ({
        label: key,
        detail: writers,
        boost: certain ? 1 : 0,
      })),
    };
  const named = scope ? variableLabels(scope) : [];
  const afterVars = /\bvars\.\w*$/.exec(before);
  if (afterVars) return { from: afterVars.index, options: named.map((label) => ({ label })) };
  const afterValue = /[\w\])"']\.([A-Za-z]*)$/.exec(before);
  if (afterValue && !/\bmath\.[A-Za-z]*$/.test(before) && !/(?:^|[^.\w])(?:\d+)\.$/.test(before))
    return { from: at - (afterValue[1]?.length ?? 0), options: [...methods, ...macros] };
  const word = /(?:^|[^.\w"'])([A-Za-z_][A-Za-z0-9_.]*)$/.exec(before);
  if (!word && before !== "") return null;
  return {
    from: at - (word?.[1]?.length ?? 0),
    options: [
      ...keys.map(({ key, writers }) => ({ label: `state.${key}`, detail: writers })),
      ...[...variables, ...named].map((label) => ({ label })),
      ...functions,
    ],
  };
}
