"use client";

import { Tags } from "lucide-react";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { toApiError } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Spinner } from "@/components/ui/spinner";
import { FEWEST_LABELS } from "@/server/domain/scenario/agreement";
import { LabelChoice } from "./label-choice";
import { agreementWords, type JudgedOutput, type JudgeView, useJudged, useJudges } from "./use-judges";

/** The judges of a workflow's tests, how far each agrees with the person, and a way to label; nothing where there are none. */
export function JudgesView({ workflowId }: { workflowId: string }) {
  const { data: judges = [] } = useJudges(workflowId);
  const [open, setOpen] = useState<string | null>(null);
  const labelling = judges.find(({ judge }) => judge === open);
  if (judges.length === 0) return null;
  return (
    <section
      aria-labelledby="judges"
      className="flex flex-col gap-3 rounded-xl border border-line bg-surface p-4"
    >
      <header>
        <h2 id="judges" className="text-sm font-semibold">
          Judges
        </h2>
        <p className="text-[13px] text-ink-2">
          Say of some outputs whether they are good. A judge decides once it agrees with you often enough;
          until then its word is a note.
        </p>
      </header>
      <ul aria-label="Judges" className="flex flex-col divide-y divide-line rounded-lg border border-line">
        {judges.map((judge) => (
          <JudgeRow
            key={`${judge.judge} ${judge.threshold} ${judge.gate_kappa}`}
            judge={judge}
            onLabel={() => setOpen(judge.judge)}
          />
        ))}
      </ul>
      {labelling ? (
        <LabelDialog workflowId={workflowId} judge={labelling} onClose={() => setOpen(null)} />
      ) : null}
    </section>
  );
}

function JudgeRow({ judge, onLabel }: { judge: JudgeView; onLabel: () => void }) {
  const { rubric, model, simulated, threshold, gate_kappa, tests, outputs, labels, counts } = judge;
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-3.5 py-3 text-[13px] leading-5">
      <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
        <p className="font-medium [overflow-wrap:anywhere]">{rubric}</p>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">
          {simulated ? <SimulatedBadge /> : null}
          <span>{model}</span>
          <span>At least {threshold}</span>
          <span>{countOf(tests.length, "test")}</span>
        </p>
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Badge tone={counts ? "completed" : "neutral"}>{counts ? "Decides" : "A note"}</Badge>
          <span>{agreementWords(judge)}</span>
          {counts ? null : <span className="text-ink-2">{missingWords(labels, gate_kappa)}</span>}
        </p>
      </div>
      {outputs > 0 ? (
        <Button icon={<Tags aria-hidden />} onClick={onLabel}>
          Label outputs
        </Button>
      ) : (
        <p className="text-ink-2">It has judged nothing yet.</p>
      )}
    </li>
  );
}

const missingWords = (labels: number, gate: number): string =>
  labels < FEWEST_LABELS
    ? `${countOf(FEWEST_LABELS - labels, "more label")} to go`
    : `${gate} is needed to decide`;

/** The outputs of a judge one below the other. What the judge says is shown once the person has said theirs. */
function LabelDialog({
  workflowId,
  judge,
  onClose,
}: {
  workflowId: string;
  judge: JudgeView;
  onClose: () => void;
}) {
  const { outputs, label } = useJudged(workflowId, judge.judge);
  // As they stood when this opened: a label moves nothing away from under the pointer.
  const [order, setOrder] = useState<readonly string[] | null>(null);
  if (order === null && outputs.data) setOrder(outputs.data.map(({ item }) => item));
  const shown = (order ?? []).flatMap((item) => outputs.data?.find((one) => one.item === item) ?? []);
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      size="lg"
      title="Label outputs"
      description={`Is each of them good, by “${judge.rubric}”? What the judge says stands there once you have said it.`}
      footer={
        <>
          <p role="status" className="mr-auto self-center text-[13px] text-ink-2">
            {agreementWords(judge)}
          </p>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      {outputs.error ? (
        <p className="text-[13px] text-failed">{toApiError(outputs.error).message}</p>
      ) : !outputs.data ? (
        <Spinner size={16} label="Loading the outputs" />
      ) : (
        <ol aria-label="Outputs" className="flex flex-col gap-3">
          {shown.map((output, at) => (
            <Output
              key={output.item}
              output={output}
              at={at}
              threshold={judge.threshold}
              onLabel={(good) => label(output.item, good)}
            />
          ))}
        </ol>
      )}
    </Dialog>
  );
}

function Output({
  output: { text, good, score, reason, test_id },
  at,
  threshold,
  onLabel,
}: {
  output: JudgedOutput;
  at: number;
  threshold: number;
  onLabel: (good: boolean | null) => void;
}) {
  const says = score >= threshold;
  return (
    <li className="flex flex-col gap-2.5 rounded-lg border border-line p-3 text-[13px] leading-5">
      <p className="text-xs text-ink-3">From {test_id}</p>
      <p className="max-h-48 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>
      <LabelChoice about={`Output ${at + 1}: is it good?`} good={good} onLabel={onLabel} />
      {good === null ? null : (
        <p className="text-ink-2 [overflow-wrap:anywhere]">
          {says === good ? "The judge agrees" : "The judge says otherwise"} ({score.toFixed(2)}): {reason}
        </p>
      )}
    </li>
  );
}
