import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { FormScope } from "@/components/forms/form-scope";
import {
  type InputError,
  type InputValues,
  readInput,
  toField,
  toValues,
} from "@/components/forms/schema/input-fields";
import { type Draft, useDraft } from "@/components/library/use-draft";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields } from "@/server/domain/graph/run-input";
import { writtenKeys } from "@/server/domain/nodes";
import type { Pin } from "@/server/domain/run/commands/pins";
import { ScenarioFields } from "@/server/domain/scenario/scenario-test";
import { testErrors } from "@/server/domain/scenario/test-errors";
import { scenarioOf, useTestedWorkflow, type WholeTest } from "./use-tests";

/** A test as its form edits it. */
export interface TestDraft {
  name: string;
  /** The input fields of the workflow, as entered. */
  values: InputValues;
  /** Other input values. */
  others: JsonObject;
  usesAnswers: boolean;
  isSimulated: boolean;
  pins: readonly { node: string; pin: Pin }[];
  people: ScenarioFields["people"];
  commands: NonNullable<ScenarioFields["commands"]>;
  expect: ScenarioFields["expect"];
  repeats: { times: number; at_least: number } | null;
}

/** Parts of a test that the form does not show. */
export type Unshown = Pick<ScenarioFields, "answers" | "config" | "starts_at">;

export const NEW_TEST = {
  name: "",
  input: {},
  people: [],
  expect: [{ kind: "status", is: "COMPLETED" }],
  simulated: true,
} satisfies ScenarioFields;

export const formOf = (graph: WorkflowGraph) => inputFields(graph).map(toField);

function toDraft(graph: WorkflowGraph, test: ScenarioFields): TestDraft {
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

/** The test of a draft without recorded answers, and the errors of its input fields. */
function readDraft(
  graph: WorkflowGraph,
  draft: TestDraft,
): { fields: ScenarioFields; inputErrors: readonly InputError[] } {
  const { input, errors: inputErrors } = readInput(formOf(graph), draft.values);
  return {
    inputErrors,
    fields: defined({
      name: draft.name.trim(),
      input: { ...draft.others, ...input },
      people: draft.people,
      commands: draft.commands.length > 0 ? draft.commands : undefined,
      expect: draft.expect,
      pins:
        draft.pins.length > 0
          ? Object.fromEntries(draft.pins.map(({ node, pin }) => [node, pin]))
          : undefined,
      repeats: draft.repeats ?? undefined,
      simulated: draft.isSimulated && !draft.usesAnswers ? (true as const) : undefined,
    }),
  };
}

const withUnshown = (
  fields: ScenarioFields,
  { answers, config, starts_at }: Unshown,
  { usesAnswers }: Pick<TestDraft, "usesAnswers">,
): ScenarioFields => ({
  ...fields,
  ...defined({ config, starts_at, answers: usesAnswers ? answers : undefined }),
});

/** Errors by their place in the test: "name", "expect.2", "expect.2.nodes". */
export type ErrorsByPlace = Readonly<Record<string, string>>;

/** The errors of a test: of its own fields, and for this workflow. The first one at each place. */
export function errorsOf(graph: WorkflowGraph, fields: ScenarioFields): ErrorsByPlace {
  const errors: Record<string, string> = {};
  const read = ScenarioFields.safeParse(fields);
  for (const { path, code, message } of read.error?.issues ?? [])
    errors[path.join(".")] ??= UNFILLED.has(code) ? "Required." : message;
  // What is incomplete is not checked against the workflow.
  const isComplete = (place: string) => !Object.keys(errors).some((at) => isWithin(at, place));
  const found = testErrors(graph, read.data ?? fields).filter(({ at }) => isComplete(at));
  for (const { at, message } of found) errors[at] ??= message;
  return errors;
}

const UNFILLED = new Set(["too_small", "invalid_type", "invalid_value"]);
const isWithin = (at: string, place: string) => at === place || at.startsWith(`${place}.`);

/** The errors of the fields at a place, by field. */
export const errorsUnder = (errors: ErrorsByPlace, place: string): ErrorsByPlace =>
  Object.fromEntries(
    Object.entries(errors).flatMap(([at, error]) =>
      at.startsWith(`${place}.`) ? [[at.slice(place.length + 1), error]] : [],
    ),
  );

/** Conditions of a test may refer to every key that can exist at the end. */
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

export interface TestWriting {
  draft: Draft<TestDraft>;
  isNew: boolean;
  isSaving: boolean;
  /** Empty until the first attempt to save. */
  errors: ErrorsByPlace;
  inputErrors: readonly InputError[];
  /** Saves over that revision, by default over the one that was loaded. */
  save: (revision?: number) => void;
}

const NO_ERRORS: ErrorsByPlace = {};
const NO_INPUT_ERRORS: readonly InputError[] = [];

/** Leaves out the error of the whole input if its fields show their own. */
function draftErrors(
  graph: WorkflowGraph,
  { fields, inputErrors }: ReturnType<typeof readDraft>,
): ErrorsByPlace {
  const { input, ...errors } = errorsOf(graph, fields);
  return input === undefined || inputErrors.length > 0 ? errors : { ...errors, input };
}

/** Edits and saves a test. `saved`: null for a new one. */
export function useTestDraft(saved: WholeTest | null, onCreated?: (id: string) => void): TestWriting {
  const { workflowId, graph } = useTestedWorkflow();
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const base = useMemo(
    () => (saved ? { content: toDraft(graph, scenarioOf(saved)), revision: saved.revision } : null),
    [graph, saved],
  );
  const draft = useDraft<TestDraft>(base, base?.content ?? toDraft(graph, NEW_TEST));
  const [hasTried, setTried] = useState(false);
  const { content } = draft;
  const read = useMemo(() => readDraft(graph, content), [graph, content]);
  const errors = useMemo(() => (hasTried ? draftErrors(graph, read) : NO_ERRORS), [hasTried, graph, read]);

  const mutation = useMutation({
    mutationFn: (revision: number | undefined) => {
      const test = withUnshown(read.fields, saved ? scenarioOf(saved) : {}, content);
      const workflow_id = workflowId;
      return saved
        ? client.tests.save.mutate({
            workflow_id,
            test_id: saved.id,
            ...test,
            revision: revision ?? draft.base.revision,
          })
        : client.tests.create.mutate({ workflow_id, ...test });
    },
    onSuccess: async (now) => {
      setTried(false);
      queryClient.setQueryData(trpc.tests.get.queryKey({ workflow_id: workflowId, test_id: now.id }), now);
      draft.onSaved({ content, revision: now.revision });
      await queryClient.invalidateQueries(trpc.tests.pathFilter());
      if (!saved) {
        draft.leave();
        toast(`Made “${now.name}”`);
      }
      onCreated?.(now.id);
    },
    onError: async (error) => {
      const { code, message } = toApiError(error);
      if (code !== "CONFLICT" || !saved) {
        toast(message, { tone: "error" });
        return;
      }
      const theirs = await client.tests.get.query({ workflow_id: workflowId, test_id: saved.id });
      draft.onConflict({ content: toDraft(graph, scenarioOf(theirs)), revision: theirs.revision });
    },
  });

  return {
    draft,
    isNew: saved === null,
    isSaving: mutation.isPending,
    errors,
    inputErrors: hasTried ? read.inputErrors : NO_INPUT_ERRORS,
    save: (revision) => {
      setTried(true);
      if (read.inputErrors.length > 0 || Object.keys(draftErrors(graph, read)).length > 0) return;
      mutation.mutate(revision);
    },
  };
}
