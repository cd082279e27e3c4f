import type { ZodError } from "zod";
import type { FormScope } from "@/components/forms/form-scope";
import {
  type InputError,
  type InputValues,
  readInput,
  toField,
  toValues,
} from "@/components/forms/schema/input-fields";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields } from "@/server/domain/graph/run-input";
import { stateProperties } from "@/server/domain/graph/state-properties";
import { writtenKeys } from "@/server/domain/nodes";
import type { Pin } from "@/server/domain/run/commands/pins";
import { ScenarioFields } from "@/server/domain/scenario/scenario-test";
import { testFaults } from "@/server/domain/scenario/test-faults";

/** A test as it is being written: what the form shows of it. */
export interface TestDraft {
  name: string;
  /** The fields that the workflow asks for, as they were entered. */
  values: InputValues;
  /** What else comes in. */
  others: JsonObject;
  /** Whether what was recorded with it answers. */
  usesAnswers: boolean;
  isSimulated: boolean;
  pins: readonly { node: string; pin: Pin }[];
  people: ScenarioFields["people"];
  /** What people tell its run beside answering. */
  commands: NonNullable<ScenarioFields["commands"]>;
  expect: ScenarioFields["expect"];
  repeats: { times: number; at_least: number } | null;
}

/** What a test has beside what its form shows. */
export type Unshown = Pick<ScenarioFields, "answers" | "config" | "starts_at">;

/** A new test: the demo model answers, and coming to an end is expected. */
export const NEW_TEST = {
  name: "",
  input: {},
  people: [],
  expect: [{ kind: "status", is: "COMPLETED" }],
  simulated: true,
} satisfies ScenarioFields;

/** The form of a workflow's input. */
export const formOf = (graph: WorkflowGraph) => inputFields(graph).map(toField);

export function toDraft(graph: WorkflowGraph, test: ScenarioFields): TestDraft {
  const fields = formOf(graph);
  return {
    name: test.name,
    values: toValues(fields, test.input),
    others: Object.fromEntries(
      Object.entries(test.input).filter(([key]) => !fields.some((field) => field.key === key)),
    ),
    usesAnswers: test.answers !== undefined,
    isSimulated: test.simulated === true,
    pins: Object.entries(test.pins ?? {}).map(([node, pin]) => ({ node, pin })),
    people: test.people,
    commands: test.commands ?? [],
    expect: test.expect,
    repeats: test.repeats ?? null,
  };
}

/** The test that a draft says, but for what is recorded; and what is wrong with its input, field by field. */
export function readDraft(
  graph: WorkflowGraph,
  draft: TestDraft,
): { fields: ScenarioFields; errors: readonly InputError[] } {
  const { input, errors } = readInput(formOf(graph), draft.values);
  return {
    errors,
    fields: {
      name: draft.name.trim(),
      input: { ...draft.others, ...input },
      people: draft.people,
      ...(draft.commands.length > 0 ? { commands: draft.commands } : {}),
      expect: draft.expect,
      ...(draft.pins.length > 0
        ? { pins: Object.fromEntries(draft.pins.map(({ node, pin }) => [node, pin])) }
        : {}),
      ...(draft.repeats ? { repeats: draft.repeats } : {}),
      ...(draft.isSimulated && !draft.usesAnswers ? { simulated: true as const } : {}),
    },
  };
}

/** The whole test, with what its form does not show. */
export const withUnshown = (
  fields: ScenarioFields,
  { answers, config, starts_at }: Unshown,
  { usesAnswers }: Pick<TestDraft, "usesAnswers">,
): ScenarioFields => ({
  ...fields,
  ...(config ? { config } : {}),
  ...(starts_at === undefined ? {} : { starts_at }),
  ...(answers && usesAnswers ? { answers } : {}),
});

/** What is wrong with a test, by the place in it: "name", "expect.2", "expect.2.nodes". */
export type Faults = Readonly<Record<string, string>>;

/** What is wrong with it by its own shape, and beside the drawing. */
export function faultsOf(graph: WorkflowGraph, fields: ScenarioFields): Faults {
  const read = ScenarioFields.safeParse(fields);
  if (read.success) return besideTheDrawing(graph, read.data);
  const shape = byShape(read.error);
  // What is not whole yet is not held against the drawing.
  const isWhole = (part: string) => faultAt(shape, part) === undefined;
  return {
    ...besideTheDrawing(
      graph,
      {
        ...fields,
        expect: fields.expect.filter((_, at) => isWhole(`expect.${at}`)),
        people: fields.people.filter((_, at) => isWhole(`people.${at}`)),
      },
      (part) => placesOf(fields, isWhole, part),
    ),
    ...shape,
  };
}

/** Where the parts that are whole stand among all. */
const placesOf = (fields: ScenarioFields, isWhole: (part: string) => boolean, part: "expect" | "people") =>
  fields[part].flatMap((_, at) => (isWhole(`${part}.${at}`) ? [at] : []));

const UNFILLED = new Set(["too_small", "invalid_type", "invalid_value"]);

function byShape({ issues }: ZodError): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const { path, code, message } of issues)
    faults[path.join(".")] ??= UNFILLED.has(code) ? "Fill this in." : message;
  return faults;
}

/** Each part by itself, so that what is said of it stands at its place. */
function besideTheDrawing(
  graph: WorkflowGraph,
  test: ScenarioFields,
  places: (part: "expect" | "people") => readonly number[] = (part) => test[part].map((_, at) => at),
): Record<string, string> {
  const bare: ScenarioFields = { name: test.name, input: test.input, people: [], expect: [] };
  const known = new Set(testFaults(graph, bare));
  const faults: Record<string, string> = {};
  const look = (place: string, part: Partial<ScenarioFields>, lead: RegExp) => {
    const fault = testFaults(graph, { ...bare, ...part }).find((one) => !known.has(one));
    if (fault !== undefined) faults[place] = fault.replace(lead, "");
  };
  const [expect, people] = [places("expect"), places("people")];
  for (const [k, one] of test.expect.entries())
    look(`expect.${expect[k] ?? k}`, { expect: [one] }, /^Expectation 1: /);
  for (const [k, one] of test.people.entries())
    look(`people.${people[k] ?? k}`, { people: [one] }, /^Answer 1 of people /);
  for (const [k, one] of (test.commands ?? []).entries())
    look(`commands.${k}`, { commands: [one] }, /^Command 1 /);
  for (const [id, pin] of Object.entries(test.pins ?? {})) look(`pins.${id}`, { pins: { [id]: pin } }, /^$/);
  const [first] = known;
  if (first !== undefined) faults.input = first.replace(/^The input does not fit: /, "");
  return faults;
}

/** The first thing wrong at or under a place. */
export const faultAt = (faults: Faults, place: string): string | undefined =>
  faults[place] ?? Object.entries(faults).find(([at]) => at.startsWith(`${place}.`))?.[1];

/** What is wrong with the parts of what is at a place. */
export const faultsUnder = (faults: Faults, place: string): Faults =>
  Object.fromEntries(
    Object.entries(faults).flatMap(([at, fault]) =>
      at.startsWith(`${place}.`) ? [[at.slice(place.length + 1), fault]] : [],
    ),
  );

/** What conditions of a test may refer to: every key that there may be at the end. */
export function scopeOf(graph: WorkflowGraph): FormScope {
  const from = new Map<string, string[]>();
  const add = (key: string, id?: string) => from.set(key, [...(from.get(key) ?? []), ...(id ? [id] : [])]);
  for (const key of Object.keys(stateProperties(graph))) add(key);
  for (const { key } of inputFields(graph)) add(key, graph.start_node_id ?? undefined);
  for (const node of Object.values(graph.nodes)) for (const key of writtenKeys(node)) add(key, node.id);
  return {
    graph,
    node: null,
    roles: [],
    keys: [...from]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, ids]) => ({
        key,
        from: [...new Set(ids)],
        certain: false,
      })),
  };
}
