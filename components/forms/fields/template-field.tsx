"use client";

import { CodeArea } from "@/components/ui/input/code-area";
import { VARS } from "@/server/domain/graph/run-input";
import { checkTemplate, templateReads } from "@/server/domain/text/template/template";
import { templateFilters } from "@/server/domain/text/template/template-filters";
import type { FieldProps } from "../field-props";
import { type FormScope, useFormScope, writersOf } from "../form-scope";
import { variableLabels } from "./variable-labels";

/** A template text: suggests the available keys after {{ and marks unknown ones. */
export function TemplateField({
  value,
  onChange,
  minLines = 3,
  ...labelProps
}: FieldProps & { minLines?: number | undefined }) {
  const scope = useFormScope();
  return (
    <CodeArea
      {...labelProps}
      compact
      minLines={minLines}
      maxLines={24}
      value={typeof value === "string" ? value : ""}
      onValueChange={onChange}
      lint={(text) => lintTemplate(text, scope)}
      complete={(text, at) => completeTemplate(text, at, scope)}
    />
  );
}

export function lintTemplate(text: string, { keys, variables }: FormScope) {
  const known = new Set(keys.map(({ key }) => key));
  const unknown = templateReads(text)
    .filter(({ key, path, optional }) => !optional && !known.has(key) && !isVariable(path, variables))
    .map(({ key, path, from, to }) => ({
      from,
      to,
      severity: "warning" as const,
      message:
        key === VARS ? `There is no variable ${path[1] ?? ""}.` : `No node before this one writes "${key}".`,
    }));
  return [
    ...checkTemplate(text).map(({ message, from, to }) => ({
      message,
      from,
      to,
      severity: "error" as const,
    })),
    ...unknown,
  ];
}

/** Whether a path names an existing variable; true while the variables are unknown. */
const isVariable = ([key, name = ""]: readonly string[], variables: readonly string[] | undefined) =>
  key === VARS && (variables?.includes(name) ?? true);

export function completeTemplate(text: string, at: number, scope: FormScope) {
  const open = text.lastIndexOf("{{", at - 1);
  if (open < 0 || open + 2 > at || text.slice(open, at).includes("}}")) return null;
  const inside = text.slice(open + 2, at);
  const isClosed = /^\s*\}\}/.test(text.slice(at));
  const filter = /\|\s*([a-z_]*)$/.exec(inside);
  if (filter)
    return {
      from: at - (filter[1]?.length ?? 0),
      options: templateFilters.map(({ name, hint }) => ({ label: name, detail: hint })),
    };
  // At the start, or as the argument of a filter.
  const word = /(?:^|[:,])\s*(?:state\.|input\.)?([A-Za-z0-9_]*|vars\.\w*)$/.exec(inside);
  if (!word) return null;
  return {
    from: at - (word[1]?.length ?? 0),
    options: [
      ...scope.keys.map((key) => ({
        label: key.key,
        detail: writersOf(scope, key),
        apply: isClosed ? key.key : `${key.key}}}`,
        boost: key.certain ? 1 : 0,
      })),
      ...variableLabels(scope).map((label) => ({
        label,
        detail: "Variable",
        apply: isClosed ? label : `${label}}}`,
      })),
    ],
  };
}
