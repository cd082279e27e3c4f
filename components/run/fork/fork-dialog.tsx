"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { toValues } from "@/components/forms/schema/input-fields";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import { inputFields } from "@/components/run/start/run-form";
import { toApiError, useTrpc } from "@/components/trpc";
import { Field } from "@/components/ui/input/field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { defined } from "@/server/domain/base/defined";
import { isList, isObject } from "@/server/domain/base/guards";
import type { JsonObject } from "@/server/domain/base/values";
import type { ForkGraph } from "@/server/domain/run/fork/lineage";
import { useControlling } from "../control/run-control-context";
import { patchOf } from "../control/state-edit";
import { RecordedNote } from "../replay/recorded-note";
import { type MessageDraft, messagesOf, type PlanDraft, plansOf } from "./fork-draft";
import { ForkMessages } from "./fork-messages";
import { choicesIn, type ForkChoice, type ForkedMoment, likelyChoice, momentAt } from "./fork-moment";
import { ForkPlan } from "./fork-plan";
import { breakpointsHere, ForkSettingsForm, howOf, settingsOf } from "./fork-settings";
import { ForkState } from "./fork-state";

interface ForkDialogProps {
  runId: string;
  /** Forks before this activation, onto the current workflow. */
  activationId?: string;
  onClose: () => void;
}

/** Asks at which moment to fork the run, and what to change there. */
export function ForkDialog(props: ForkDialogProps) {
  const store = useRunViewStore();
  const selected = useControlling()?.selected ?? null;
  const [choices] = useState(() => (store ? choicesIn(store) : []));
  const [seq, setSeq] = useState(
    () =>
      (
        choices.find(({ activationId }) => activationId && activationId === props.activationId) ??
        (store && likelyChoice(choices, store.view.getState().head.graph, selected))
      )?.seq,
  );
  const moment = useMemo(() => (store && seq ? momentAt(store, seq) : null), [store, seq]);
  return moment ? <ForkForm {...props} {...{ moment, choices }} onMoment={setSeq} /> : null;
}

/** The changes at one moment. */
interface Draft {
  seq: number;
  /** The state; undefined while it is invalid. */
  edited: JsonObject | undefined;
  messageDraft: MessageDraft;
  planned: PlanDraft;
}

interface ForkFormProps extends ForkDialogProps {
  moment: ForkedMoment;
  choices: readonly ForkChoice[];
  onMoment: (seq: number) => void;
}

function ForkForm({ runId, activationId, onClose, moment, choices, onMoment }: ForkFormProps) {
  const { seq, state, config } = moment;
  const [from, setFrom] = useState<"moment" | "beginning">("moment");
  const [graph, setGraph] = useState<ForkGraph>(activationId ? "latest" : "original");
  // The changes belong to one moment: another one has a different state.
  const unchanged: Draft = { seq, edited: state, messageDraft: {}, planned: { tasks: {}, added: {} } };
  const [lastDraft, setDraft] = useState(unchanged);
  const draft = lastDraft.seq === seq ? lastDraft : unchanged;
  const [how, setHow] = useState(() => howOf(config));
  const [breakpoints] = useState(() => breakpointsHere(moment.workflowId, moment.graph));
  const [fields] = useState(() => inputFields(moment.graph));
  const entered = useInput(fields, () => toValues(fields, moment.input));
  const { fork, isPending, refusal } = useFork(onClose);
  const isHere = from === "moment";
  const submit = () => {
    const common = { run_id: runId, graph, ...defined({ config: settingsOf(config, how, breakpoints) }) };
    if (isHere) return fork({ ...common, at: { seq }, ...changesOf(moment, draft) });
    const input = entered.read();
    if (input) fork({ ...common, input });
  };
  return (
    <FormDialog
      sticky
      title="Fork this run"
      description="Creates a new run that continues from a point in this run. This run doesn't change."
      submit="Fork"
      icon={<GitBranch aria-hidden />}
      mutation={{ isPending, error: null }}
      isIncomplete={isHere && draft.edited === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <RecordedNote runId={runId} before="fork" />
      <Select
        label="Fork from"
        value={isHere ? String(seq) : "beginning"}
        onValueChange={(value) => {
          setFrom(value === "beginning" ? "beginning" : "moment");
          if (value !== "beginning") onMoment(Number(value));
        }}
        options={[
          ...(fields.length > 0 ? [{ value: "beginning", label: "Start, with new input" }] : []),
          ...choices.map(({ seq: at, label }) => ({ value: String(at), label })),
        ]}
        hint={isHere ? `After event ${seq}: ${moment.text}. Cost so far: ${moment.cost}` : undefined}
      />
      <Field group label="Workflow">
        <SegmentedControl<ForkGraph>
          label="Workflow"
          className="self-start"
          value={graph}
          onValueChange={setGraph}
          options={[
            { value: "latest", label: "Current version" },
            { value: "original", label: "Original version" },
          ]}
        />
      </Field>
      {isHere ? (
        <Changes moment={moment} draft={draft} onChange={setDraft} />
      ) : (
        <>
          <p className="text-[13px] text-ink-2">
            Requests that match ones from this run reuse its recorded responses at no cost.
          </p>
          <InputFields {...entered.props} />
        </>
      )}
      <ForkSettingsForm
        how={how}
        breakpoints={breakpoints}
        isChanged={settingsOf(config, { ...how, hasBreakpoints: false }, []) !== undefined}
        onChange={setHow}
      />
      <ForkRejection refusal={refusal} />
    </FormDialog>
  );
}

/** What the fork is to change; only what differs from the moment. */
function changesOf(moment: ForkedMoment, { edited, messageDraft, planned }: Draft) {
  const messages = messagesOf(moment, messageDraft);
  const plan = plansOf(moment, planned);
  return defined({
    state: (edited && patchOf(moment.state, edited)) || undefined,
    messages: messages.length > 0 ? messages : undefined,
    plan: plan.length > 0 ? plan : undefined,
  });
}

/** Edits the state, messages and plans at a moment. */
function Changes({
  moment,
  draft,
  onChange,
}: {
  moment: ForkedMoment;
  draft: Draft;
  onChange: (draft: Draft) => void;
}) {
  const { seq, graph, state, agents, plans } = moment;
  const { edited, messageDraft, planned } = draft;
  return (
    <>
      <ForkState
        key={`state ${seq}`}
        graph={graph}
        state={state}
        edited={edited}
        onChange={(next) => onChange({ ...draft, edited: next })}
      />
      <ForkMessages
        key={`messages ${seq}`}
        agents={agents}
        draft={messageDraft}
        changed={messagesOf(moment, messageDraft).length}
        onChange={(next) => onChange({ ...draft, messageDraft: next })}
      />
      <ForkPlan
        plans={plans}
        draft={planned}
        changed={plansOf(moment, planned).length}
        onChange={(next) => onChange({ ...draft, planned: next })}
      />
    </>
  );
}

/** Why a fork was refused: a sentence, and the errors in detail, if there are any. */
interface ForkRefusal {
  message: string;
  errors: readonly string[];
}

/** Forks the run and opens the fork; calls `onDone` just before. */
function useFork(onDone: () => void) {
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const [refusal, setRefusal] = useState<ForkRefusal | null>(null);
  const { mutate, isPending } = useMutation(
    trpc.runs.fork.mutationOptions({
      onMutate: () => setRefusal(null),
      onSuccess({ run_id }) {
        void queryClient.invalidateQueries(trpc.runs.family.pathFilter());
        onDone();
        router.push(`/workflows/${workflowId ?? "-"}/runs/${run_id}`);
      },
      onError: (error) => setRefusal(refusalOf(error)),
    }),
  );
  return { fork: mutate, isPending, refusal };
}

function refusalOf(error: unknown): ForkRefusal {
  const { message, detail } = toApiError(error);
  if (!isObject(detail)) return { message, errors: [] };
  const errors = [detail.faults, detail.problems, detail.errors].flatMap((list) =>
    isList(list) ? list.flatMap(sentencesOf) : [],
  );
  return { message, errors: [...new Set(errors)] };
}

function sentencesOf(error: unknown): string[] {
  if (typeof error === "string") return [error];
  return isObject(error) && typeof error.message === "string" ? [error.message] : [];
}

function ForkRejection({ refusal }: { refusal: ForkRefusal | null }) {
  if (!refusal) return null;
  const { message, errors } = refusal;
  return (
    <div role="alert" className="text-[13px] text-failed">
      <p>{message}</p>
      {errors.length > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
