"use client";

import { GitBranch } from "lucide-react";
import { type ReactNode, useState } from "react";
import { JsonField } from "@/components/forms/json-field";
import { useRunViewStore } from "@/components/run/run-context";
import type { RunViewStore } from "@/components/run/run-view-store";
import { newNames, sentenceOf } from "@/components/run/sentences";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import type { JsonObject } from "@/server/domain/base/values";
import { costInWords } from "@/server/domain/model/cost";
import type { ForkGraph } from "@/server/domain/run/lineage";
import { DrawingChoice, ForkRefused } from "./fork-parts";
import { isState, patchInWords, patchOf, stateFault } from "./state-edit";
import { useFork } from "./use-fork";

/** A moment of a run as it stood when it was asked for: the run may go on meanwhile. */
interface ForkedMoment {
  seq: number;
  /** What happened then. */
  text: string;
  state: JsonObject;
  cost: string;
  hasEnded: boolean;
}

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
  const { seq, state } = moment;
  // Nothing but what a person changes here is other than it was.
  const [graph, setGraph] = useState<ForkGraph>("original");
  const [edited, setEdited] = useState<JsonObject | undefined>(state);
  const [fault, setFault] = useState<string | null>(null);
  const { fork, isPending, refusal } = useFork(onClose);
  const patch = edited ? patchOf(state, edited) : null;
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
            disabled={fault !== null || edited === undefined}
            onClick={() => fork({ run_id: runId, at: { seq }, graph, ...(patch ? { state: patch } : {}) })}
          >
            Fork
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pt-1">
        <Inherited moment={moment} />
        <DrawingChoice value={graph} onChange={setGraph} />
        <JsonField
          label="State"
          hint={patchInWords(patch)}
          error={edited === undefined ? "Write {} to take every value away." : undefined}
          value={edited}
          onChange={(value) => setEdited(isState(value) ? value : undefined)}
          check={(value) => stateFault(state, value)}
          onFault={setFault}
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

function momentNow(store: RunViewStore): ForkedMoment | null {
  const { state, events, head } = store.view.getState();
  const event = events[state.seq - 1];
  if (!event) return null;
  const { totals, run } = state;
  return {
    seq: state.seq,
    text: sentenceOf(
      event,
      newNames(head.graph, () => head.plans),
    ).text,
    state: { ...state.state },
    cost: costInWords({
      cost_usd: totals.cost_usd + (run.inherited?.cost_usd ?? 0),
      unknown_cost_calls: totals.unknown_cost_calls + (run.inherited?.unknown_cost_calls ?? 0),
    }),
    hasEnded: run.status === "finished",
  };
}
