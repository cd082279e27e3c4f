"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import Link from "next/link";
import { nodeChoices } from "@/components/display/describe-expectation";
import { countOf } from "@/components/display/format";
import { JsonField } from "@/components/forms/schema/json-field";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { NumberField } from "@/components/ui/input/number-field";
import { Switch } from "@/components/ui/input/switch";
import { FoldedRow, RowList } from "@/components/ui/row-list";
import { toast } from "@/components/ui/toasts";
import { isObject } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";
import { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isStartNode } from "@/server/domain/graph/run-input";
import { findNodeKind } from "@/server/domain/nodes";
import { Cassette } from "@/server/domain/scenario/cassette";
import { NodeSelect } from "./node-select";
import type { ErrorsByPlace, TestDraft } from "./test-draft";
import { useTestedWorkflow, type WholeTest } from "./use-tests";

/** A part of a test's form. */
export interface Part {
  content: TestDraft;
  set: (change: Partial<TestDraft>) => void;
  errors: ErrorsByPlace;
}

/** Whether recorded answers are used, and whether the demo model answers. */
export function AnsweringFields({
  saved,
  isChanged,
  content,
  set,
}: Part & {
  saved: WholeTest | null;
  /** There are unsaved changes, which uploading a cassette would discard. */
  isChanged: boolean;
}) {
  const { workflowId } = useTestedWorkflow();
  const answers = saved?.answers;
  const recordedIn = answers?.recorded?.run_id;
  return (
    <>
      {answers ? (
        <Switch
          label={`Use ${countOf(answers.answers.length, "recorded answer")}`}
          hint="Any other request fails the test. If off, saving deletes the recording."
          checked={content.usesAnswers}
          onCheckedChange={(usesAnswers) => set({ usesAnswers })}
        />
      ) : null}
      {recordedIn ? (
        <p className="text-[13px] text-ink-2">
          Recorded in{" "}
          <Link
            href={`/workflows/${workflowId}/runs/${recordedIn}`}
            className="text-accent underline decoration-dotted underline-offset-2 hover:text-accent-hover"
          >
            the run this test was saved from
          </Link>
          .
        </p>
      ) : null}
      {saved && !isChanged ? <CassetteUpload testId={saved.id} /> : null}
      {content.usesAnswers ? null : (
        <Switch
          label="Use the demo model"
          hint="Replaces all models. If off, only nodes set to the demo model get responses."
          checked={content.isSimulated}
          onCheckedChange={(isSimulated) => set({ isSimulated })}
        />
      )}
    </>
  );
}

/** Nodes with a fixed output that do not run. */
export function PinFields({ content: { pins }, set, errors }: Part) {
  const { graph } = useTestedWorkflow();
  const choices = nodeChoices(graph).filter(({ value }) => isPinnable(graph, value));
  const free = choices.filter(({ value }) => !pins.some(({ node }) => node === value));
  return (
    <RowList
      label="Pinned outputs"
      hint="What a node returns without running"
      plain
      items={pins}
      addLabel="Pin an output"
      canAdd={free.length > 0}
      newItem={(): TestDraft["pins"][number] => ({ node: free[0]?.value ?? "", pin: { output: {} } })}
      onItemsChange={(next) => set({ pins: next })}
      removeLabel={({ node }) => `Unpin ${graph.nodes[node]?.name || node}`}
    >
      {({ node, pin }, at, remove, setPin) => (
        <FoldedRow
          label={`Pinned output ${at + 1}`}
          summary={
            <span className="min-w-0 truncate">
              {graph.nodes[node]?.name || node}: {Object.keys(pin.output).join(", ") || "nothing"}
            </span>
          }
          remove={remove}
          isOpenAtFirst={Object.keys(pin.output).length === 0}
        >
          <NodeSelect
            label="Node"
            value={node}
            error={errors[`pins.${node}`]}
            choices={choices.filter(({ value }) => value === node || free.some((one) => one.value === value))}
            onChange={(id) => setPin({ node: id ?? node, pin })}
          />
          <JsonField
            label="Output"
            hint="JSON object with a value for each output key"
            value={pin.output}
            check={(json) => (isObject(json) ? null : "Enter a JSON object { … }.")}
            onChange={(next) => {
              const read = JsonObject.safeParse(next);
              setPin({ node, pin: { ...pin, output: read.success ? read.data : {} } });
            }}
          />
        </FoldedRow>
      )}
    </RowList>
  );
}

/** Routers also need their chosen route, which only a kept run brings. */
function isPinnable({ nodes }: WorkflowGraph, id: string): boolean {
  const node = nodes[id];
  if (!node) return false;
  const kind = findNodeKind(node.node_type);
  return !kind?.ends && !kind?.routes && !isStartNode(node);
}

export function RepeatFields({ content: { repeats }, set, errors }: Part) {
  return (
    <>
      <Switch
        label="Repeat the test"
        hint="Passes if enough repetitions pass"
        checked={repeats !== null}
        onCheckedChange={(isOn) => set({ repeats: isOn ? { times: 3, at_least: 3 } : null })}
      />
      {repeats ? (
        <div className="grid max-w-md gap-3 sm:grid-cols-2">
          <NumberField
            label="Repetitions"
            min={1}
            max={100}
            step={1}
            error={errors["repeats.times"]}
            value={repeats.times}
            onValueChange={(times) => set({ repeats: { ...repeats, times: times ?? 1 } })}
          />
          <NumberField
            label="Must pass"
            min={1}
            max={100}
            step={1}
            error={errors["repeats.at_least"] ?? errors.repeats}
            value={repeats.at_least}
            onValueChange={(at_least) => set({ repeats: { ...repeats, at_least: at_least ?? 1 } })}
          />
        </div>
      ) : null}
    </>
  );
}

/** Uploads recorded answers into a saved test. */
function CassetteUpload({ testId }: { testId: string }) {
  const { workflowId } = useTestedWorkflow();
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const bring = useMutation({
    mutationFn: async (file: File) =>
      client.tests.bringCassette.mutate({
        workflow_id: workflowId,
        test_id: testId,
        ...readCassette(await file.text()),
      }),
    onSuccess: async (test) => {
      queryClient.setQueryData(trpc.tests.get.queryKey({ workflow_id: workflowId, test_id: testId }), test);
      toast(`Imported ${countOf(test.answers?.answers.length ?? 0, "recorded answer")}`);
      await queryClient.invalidateQueries(trpc.tests.pathFilter());
    },
    onError: (error) =>
      toast(error instanceof NoCassette ? error.message : toApiError(error).message, { tone: "error" }),
  });
  return (
    <label className="flex cursor-pointer items-center gap-2 self-start rounded-lg border border-dashed border-line-strong px-3 py-2 text-[13px] hover:border-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-focus">
      <FileUp aria-hidden="true" className="size-4 text-ink-3" />
      Import recorded answers
      <input
        type="file"
        accept=".json,application/json"
        className="sr-only"
        disabled={bring.isPending}
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) bring.mutate(file);
        }}
      />
    </label>
  );
}

class NoCassette extends namedError("NoCassette") {}

function readCassette(text: string): Cassette {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new NoCassette("Invalid JSON. Choose a file saved with “Download recording” in a run.");
  }
  const read = Cassette.safeParse(json);
  if (!read.success)
    throw new NoCassette(
      "No recorded answers found. Choose a file saved with “Download recording” in a run.",
    );
  return read.data;
}
