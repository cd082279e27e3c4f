"use client";

import { useContext } from "react";
import { CodeArea } from "@/components/ui/code-area";
import { checkExpression } from "@/server/domain/expression";
import { type FormScope, FormScopeContext, writersOf } from "./form-scope";

export interface ExpressionFieldProps {
  label: string;
  hideLabel?: boolean;
  hint?: string | undefined;
  error?: string | undefined;
  value: string;
  onChange: (text: string) => void;
  result?: "bool" | "any";
  placeholder?: string;
  /** Other things than the state that it may read, such as `output`. */
  variables?: readonly string[];
}

/**
 * A CEL expression: offers the keys that can exist here, and says where it is wrong while it is written. Outside of a
 * workflow's form nobody knows the keys: then it offers and checks none.
 */
export function ExpressionField({
  value,
  onChange,
  result = "any",
  variables,
  ...words
}: ExpressionFieldProps) {
  const scope = useContext(FormScopeContext);
  return (
    <CodeArea
      {...words}
      compact
      value={value}
      onValueChange={onChange}
      placeholder={words.placeholder ?? 'state.key == "value"'}
      lint={(text) => lintExpression(text, result, scope)}
      complete={(text, at) => completeExpression(text, at, scope, variables ?? [])}
    />
  );
}

export function lintExpression(text: string, result: "bool" | "any", scope: FormScope | null) {
  if (text.trim() === "") return [];
  const known = scope ? { keys: scope.keys.map(({ key }) => key) } : {};
  return checkExpression(text, { result, ...known }).map(({ message, from, to }) => ({
    message,
    from: Math.min(from, text.length),
    to: Math.min(Math.max(to, from), text.length),
    severity: message.startsWith("No node before") ? ("warning" as const) : ("error" as const),
  }));
}

const functions = [
  { label: "has", detail: "whether a key exists", apply: "has(state." },
  { label: "size", detail: "how long", apply: "size(state." },
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
  const word = /(?:^|[^.\w"'])([A-Za-z_][A-Za-z0-9_.]*)$/.exec(before);
  if (!word && before !== "") return null;
  return {
    from: at - (word?.[1]?.length ?? 0),
    options: [
      ...keys.map(({ key, writers }) => ({ label: `state.${key}`, detail: writers })),
      ...variables.map((label) => ({ label })),
      ...functions,
    ],
  };
}
