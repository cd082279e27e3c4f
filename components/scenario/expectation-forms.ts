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
const aSchema = (json: Json) => (isObject(json) ? null : "A schema is an object { … }");

/** What can be checked of a text, each shown once it was added. */
export const TEXT_CHECKS = [
  { key: "equals", as: "json", label: "Is exactly", hint: "As JSON: a text stands in quotes.", empty: null },
  { key: "contains", as: "text", label: "Contains", empty: "" },
  { key: "excludes", as: "text", label: "Does not contain", empty: "" },
  {
    key: "matches",
    as: "text",
    label: "Matches a pattern",
    hint: "A regular expression; it may match anywhere.",
    isMono: true,
    empty: "",
  },
  {
    key: "schema",
    as: "json",
    label: "Has a shape",
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
        { key: "is", as: "choice", label: "It ends", options: choicesOf(FINAL_STATUS_LABELS) },
        {
          key: "reason",
          as: "text",
          label: "Reason",
          aside: "Optional",
          isMono: true,
          placeholder: "such as BUDGET",
        },
      ],
    },
  ],
  path: [{ key: "mode", as: "choice", label: "How it runs", options: PATH_MODES }, { slot: "own" }],
  visits: [
    { slot: "own" },
    {
      as: "columns",
      most: 3,
      parts: [
        { ...OPTIONAL_COUNT, key: "times", label: "Times" },
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
          label: "Of",
          options: [
            { value: "state", label: "The state at the end" },
            { value: "output", label: "What the run hands out" },
          ],
        },
      ],
    },
    ...TEXT_CHECKS.map(
      (field): FormField<Text> => ({ ...field, showIf: (text) => text[field.key] !== undefined }),
    ),
    { slot: "checks" },
  ],
  questions: [
    { ...OPTIONAL_COUNT, key: "count", label: "How many", hint: "0: nobody is asked." },
    { slot: "own" },
  ],
  tools: [{ slot: "own" }],
  cost: [
    {
      ...REQUIRED,
      key: "at_most_usd",
      as: "decimal",
      label: "At most",
      unit: "US$",
      step: 0.01,
      hint: "A cost that is not known fails.",
    },
  ],
  tokens: [{ ...REQUIRED, key: "at_most", as: "number", label: "At most", unit: "tokens", step: 100 }],
  judge: [
    {
      key: "rubric",
      as: "multiline",
      label: "Rubric",
      hint: "What has to be true of it, in words. One thing at a time is judged best.",
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
          label: "Score at least",
          hint: "From 0 to 1.",
          max: 1,
          step: 0.05,
        },
      ],
    },
    { as: "box", title: "Who judges", parts: [{ slot: "model" }] },
  ],
};
