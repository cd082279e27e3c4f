import { PATH_MODES } from "@/components/display/describe-expectation";
import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import { choicesOf, type FormField, type FormPart } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";
import type { Json } from "@/server/domain/base/values";
import type { ExpectationKind, ExpectationOf } from "@/server/domain/scenario/expectation";

/** The forms of expectations, by kind. */

/** `own`: what only this kind has. `checks`: adds and removes checks of a text. */
export type ExpectationSlot = "own" | "key" | "model" | "checks";

const OPTIONAL_COUNT = { as: "number", aside: "Optional", min: 0, step: 1, placeholder: "" } as const;
/** A required number that is emptied stays as NaN, which the check refuses. */
const REQUIRED = { empty: Number.NaN, min: 0, placeholder: "" } as const;

type Text = ExpectationOf<"text">;
const aSchema = (json: Json) => (isObject(json) ? null : "Enter a JSON Schema object { … }.");

/** What can be checked of a text, each shown once it was added. */
export const TEXT_CHECKS = [
  { key: "equals", as: "json", label: "Equals", hint: "JSON: put text in quotes", empty: null },
  { key: "contains", as: "text", label: "Contains", empty: "" },
  { key: "excludes", as: "text", label: "Does not contain", empty: "" },
  {
    key: "matches",
    as: "text",
    label: "Matches pattern",
    hint: "Regular expression; matches anywhere",
    isMono: true,
    empty: "",
  },
  {
    key: "schema",
    as: "json",
    label: "Matches schema",
    hint: "JSON Schema",
    check: aSchema,
    empty: { type: "string" },
  },
] as const satisfies readonly FormField<Text>[];

export const EXPECTATION_FORMS: {
  readonly [K in ExpectationKind]: readonly FormPart<ExpectationOf<K>, ExpectationSlot>[];
} = {
  status: [
    {
      as: "columns",
      most: 2,
      areWide: true,
      parts: [
        { key: "is", as: "choice", label: "Final status", options: choicesOf(FINAL_STATUS_LABELS) },
        {
          key: "reason",
          as: "text",
          label: "Reason",
          aside: "Optional",
          isMono: true,
          placeholder: "BUDGET",
        },
      ],
    },
  ],
  path: [{ key: "mode", as: "choice", label: "Path", options: PATH_MODES }, { slot: "own" }],
  visits: [
    { slot: "own" },
    {
      as: "columns",
      most: 3,
      parts: [
        { ...OPTIONAL_COUNT, key: "times", label: "Exactly" },
        { ...OPTIONAL_COUNT, key: "at_least", label: "At least" },
        { ...OPTIONAL_COUNT, key: "at_most", label: "At most" },
      ],
    },
  ],
  state: [{ slot: "own" }],
  text: [
    {
      as: "columns",
      most: 2,
      areWide: true,
      parts: [
        { slot: "key" },
        {
          key: "of",
          as: "choice",
          label: "Source",
          options: [
            { value: "state", label: "Final state" },
            { value: "output", label: "Run output" },
          ],
        },
      ],
    },
    ...TEXT_CHECKS.map(
      (field): FormField<Text> => ({ ...field, showIf: (text) => text[field.key] !== undefined }),
    ),
    { slot: "checks" },
  ],
  questions: [{ ...OPTIONAL_COUNT, key: "count", label: "Count", hint: "0: no questions" }, { slot: "own" }],
  tools: [{ slot: "own" }],
  cost: [
    {
      ...REQUIRED,
      key: "at_most_usd",
      as: "decimal",
      label: "Max cost",
      unit: "US$",
      step: 0.01,
      hint: "Fails if the cost is unknown",
    },
  ],
  tokens: [{ ...REQUIRED, key: "at_most", as: "number", label: "Max tokens", unit: "tokens", step: 100 }],
  judge: [
    {
      key: "rubric",
      as: "multiline",
      label: "Rubric",
      hint: "What a good output looks like. Cover one criterion per rubric.",
      empty: "",
    },
    {
      as: "columns",
      most: 2,
      areWide: true,
      parts: [
        { slot: "key" },
        {
          ...REQUIRED,
          key: "threshold",
          as: "decimal",
          label: "Min score",
          hint: "From 0 to 1",
          max: 1,
          step: 0.05,
        },
      ],
    },
    { as: "box", title: "Judge", parts: [{ slot: "model" }] },
  ],
};
