"use client";

import { GitBranch } from "lucide-react";
import { type ReactNode, useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import {
  type InputError,
  type InputValues,
  readInput,
  toValues,
} from "@/components/forms/schema/input-fields";
import { JsonField } from "@/components/forms/schema/json-field";
import { useRunViewStore } from "@/components/run/run-context";
import { inputFields } from "@/components/run/start/run-form";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { JsonObject } from "@/server/domain/base/values";
import type { ForkGraph } from "@/server/domain/run/lineage";
import { type MessageDraft, messagesOf, type PlanDraft, plansOf } from "./fork-draft";
import { ForkMessages } from "./fork-messages";
import { type ForkedMoment, momentNow } from "./fork-moment";
import { DrawingChoice, ForkRefused } from "./fork-parts";
import { ForkPlan } from "./fork-plan";
import { breakpointsHere, ForkSettingsForm, howOf, settingsOf } from "./fork-settings";
import { RecordedNote } from "./recorded-note";
import { isState, patchInWords, patchOf, stateFault } from "./state-edit";
import { useFork } from "./use-fork";

interface ForkDialogProps {
  runId: string;
  onClose: () => void;
}

/** Asks how another run is to go on from the moment of the run that is looked at. */
export function ForkDialog(props: ForkDialogProps) {
  const store = useRunViewStore();
  const [moment] = useState(() => (store ? momentNow(store) : null));
  return moment ? <Asking {...props} moment={moment} /> : null;
}

function Asking({ runId, onClose, moment }: ForkDialogProps & { moment: ForkedMoment }) {
  const { seq, state, config } = moment;
  // Nothing but what a person changes here is other than it was.
  const [from, setFrom] = useState<"moment" | "beginning">("moment");
  const [graph, setGraph] = useState<ForkGraph>("original");
  const [edited, setEdited] = useState<JsonObject | undefined>(state);
  const [fault, setFault] = useState<string | null>(null);
  const [said, setSaid] = useState<MessageDraft>({});
  const [planned, setPlanned] = useState<PlanDraft>({ tasks: {}, added: {} });
  const [how, setHow] = useState(() => howOf(config));
  const [breakpoints] = useState(() => breakpointsHere(moment.workflowId, moment.graph));
  const [fields] = useState(() => inputFields(moment.graph));
  const [values, setValues] = useState<InputValues>(() => toValues(fields, moment.input));
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const { fork, isPending, refusal } = useFork(onClose);
  const isHere = from === "moment";
  const patch = edited ? patchOf(state, edited) : null;
  const messages = messagesOf(moment, said);
  const plan = plansOf(moment, planned);
  const settings = settingsOf(config, how, breakpoints);
  const common = { run_id: runId, graph, ...(settings ? { config: settings } : {}) };
  const submit = () => {
    if (isHere)
      return fork({
        ...common,
        at: { seq },
        ...(patch ? { state: patch } : {}),
        ...(messages.length > 0 ? { messages } : {}),
        ...(plan.length > 0 ? { plan } : {}),
      });
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length === 0) fork({ ...common, input: read.input });
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      sticky
      title="Fork from this moment"
      description="Another run takes over all that was done until then and goes on from there. This one stays as it is."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={<GitBranch aria-hidden />}
            pending={isPending}
            disabled={isHere && (fault !== null || edited === undefined)}
            onClick={submit}
          >
            Fork
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pt-1">
        <RecordedNote runId={runId} before="fork" />
        {fields.length > 0 ? (
          <SegmentedControl
            label="From"
            className="self-start"
            value={from}
            onValueChange={setFrom}
            options={[
              { value: "moment", label: "This moment" },
              { value: "beginning", label: "The beginning, with another input" },
            ]}
          />
        ) : null}
        {isHere ? <Inherited moment={moment} /> : null}
        <DrawingChoice value={graph} onChange={setGraph} />
        {isHere ? (
          <>
            <JsonField
              label="State"
              hint={patchInWords(patch)}
              error={edited === undefined ? "Write {} to take every value away." : undefined}
              value={edited}
              onChange={(value) => setEdited(isState(value) ? value : undefined)}
              check={(value) => stateFault(state, value)}
              onFault={setFault}
            />
            <ForkMessages agents={moment.agents} draft={said} changed={messages.length} onChange={setSaid} />
            <ForkPlan plans={moment.plans} draft={planned} changed={plan.length} onChange={setPlanned} />
          </>
        ) : (
          <>
            <p className="text-[13px] text-ink-2">
              Whatever is asked in the same words as in this run gets its answer from there and is not paid
              again.
            </p>
            <InputFields
              {...{ fields, values, errors }}
              onChange={(next, left) => {
                setValues(next);
                setErrors(left);
              }}
            />
          </>
        )}
        <ForkSettingsForm
          how={how}
          breakpoints={breakpoints}
          isChanged={settingsOf(config, { ...how, hasBreakpoints: false }, []) !== undefined}
          onChange={setHow}
        />
        <ForkRefused refusal={refusal} />
      </div>
    </Dialog>
  );
}

/** What the fork takes over. */
function Inherited({ moment: { seq, text, cost, hasEnded } }: { moment: ForkedMoment }) {
  return (
    <dl aria-label="What is inherited" className="flex flex-col gap-1 text-[13px]">
      <Line name="Moment">
        After event {seq}: {text}
        {hasEnded ? ". Nothing goes on after an end, so it goes on from just before." : null}
      </Line>
      <Line name="Cost so far">{cost}; it is not paid again</Line>
    </dl>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      <dt className="w-20 shrink-0 text-ink-3">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
