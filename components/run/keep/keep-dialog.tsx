"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { describeExpectation, KINDS } from "@/components/display/describe-expectation";
import { countOf } from "@/components/display/format";
import { TestMark } from "@/components/display/test-mark";
import { FormDialog } from "@/components/forms/form-dialog";
import { DoingsNote } from "@/components/run/replay/recorded-note";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import { type Answers, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";
import { Dialog } from "@/components/ui/overlay/dialog";
import { toast } from "@/components/ui/toasts";
import { peopleOf, proposedExpectations } from "@/server/domain/scenario/propose";

const LONGEST_NAME = 200;

/** Where a test of a workflow is shown. */
const addressOf = ({ workflow_id, test }: Answers["tests"]["keep"]) =>
  `/workflows/${workflow_id}/tests?test=${encodeURIComponent(test.id)}`;

/** Saves the run as a test: previews its content, asks for a name, and opens the test. */
export function KeepDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const workflow = useRun(({ head }) => head.run.workflow_name, "");
  const [name, setName] = useState(() => `${workflow || "Run"} (recorded)`.slice(0, LONGEST_NAME));
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const keep = useMutation(
    trpc.tests.keep.mutationOptions({
      onSuccess(kept) {
        void queryClient.invalidateQueries(trpc.tests.pathFilter());
        // Read first what was left out or fails.
        if (kept.notes.length > 0 || kept.report.status !== "passed") return;
        toast(`Saved “${kept.test.name}”. The test passes.`);
        router.push(addressOf(kept));
      },
    }),
  );
  if (keep.data && (keep.data.notes.length > 0 || keep.data.report.status !== "passed"))
    return <Kept kept={keep.data} onClose={onClose} />;
  return (
    <FormDialog
      title="Save run as test"
      description="Reruns the workflow with the same input and recorded responses. It doesn't call models or ask anyone."
      submit="Save test"
      icon={<FlaskConical aria-hidden />}
      // After a success the page is about to change: the button stays busy until it does.
      mutation={{ isPending: keep.isPending || keep.isSuccess, error: keep.error }}
      isIncomplete={name.trim() === ""}
      onSubmit={() => keep.mutate({ run_id: runId, name: name.trim() })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        maxLength={LONGEST_NAME}
        onValueChange={setName}
        error={name.trim() === "" ? "Enter a name." : undefined}
      />
      <DoingsNote runId={runId} as="test" />
      <WhatIsKept />
    </FormDialog>
  );
}

/** What the test will contain of the run, computed as on the server. */
function WhatIsKept() {
  const store = useRunViewStore();
  const kept = useMemo(() => {
    if (!store) return null;
    const { events, head } = store.view.getState();
    return {
      input: Object.keys(head.input),
      models: Object.keys(head.calls).length,
      people: peopleOf(head).length,
      pins: Object.keys(head.run.pins ?? {}).length,
      expect: proposedExpectations(events, head),
      graph: head.graph,
    };
  }, [store]);
  if (!kept) return null;
  const { input, models, people, pins, expect, graph } = kept;
  return (
    <>
      <section aria-label="Included">
        <h3 className="mb-1.5 text-[13px] font-medium">Included</h3>
        <ul className="flex flex-col gap-1 text-[13px] text-ink-2">
          <li>{input.length > 0 ? `Input: ${input.join(", ")}` : "No input"}</li>
          <li>
            {models > 0
              ? `Recorded responses of ${countOf(models, "model call")} and any tool calls`
              : "Recorded tool responses, if any. No model calls."}
          </li>
          <li>{people > 0 ? `${countOf(people, "answer")} from people` : "No answers from people"}</li>
          {pins > 0 ? <li>{countOf(pins, "pinned output")}</li> : null}
        </ul>
      </section>
      <section aria-label="Expectations">
        <h3 className="mb-1.5 text-[13px] font-medium">Expectations</h3>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-[13px]">
          {expect.map((expectation, at) => (
            <div key={at} className="contents">
              <dt className="text-ink-3">{KINDS[expectation.kind].label}</dt>
              <dd className="line-clamp-2 [overflow-wrap:anywhere]">
                {describeExpectation(expectation, graph)}
              </dd>
            </div>
          ))}
        </dl>
        <p className="mt-2 text-[13px] text-ink-3">You can edit all of this later.</p>
      </section>
    </>
  );
}

/** Shown after the test was saved, with notes about it. */
function Kept({ kept, onClose }: { kept: Answers["tests"]["keep"]; onClose: () => void }) {
  const { report, notes, test } = kept;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={`Saved “${test.name}”`}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <ButtonLink variant="primary" href={addressOf(kept)}>
            Open test
          </ButtonLink>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-[13px] leading-5">
        <p className="flex gap-2">
          <TestMark status={report.status} withWord />
          <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{report.sentence}</span>
        </p>
        {notes.length > 0 ? (
          <ul aria-label="Notes" className="flex list-disc flex-col gap-1.5 pl-4">
            {notes.map((note) => (
              <li key={note} className="[overflow-wrap:anywhere]">
                {note}
              </li>
            ))}
          </ul>
        ) : null}
      </div>
    </Dialog>
  );
}
