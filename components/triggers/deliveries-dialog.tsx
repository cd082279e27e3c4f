"use client";

import { useEffect, useRef, useState } from "react";
import { countOf, formatTokens } from "@/components/display/format";
import { ErrorText } from "@/components/page/error-text";
import { isWhole, MoneyFields, moneyOf, NO_MONEY } from "@/components/scenario/money-fields";
import { useStoppable } from "@/components/scenario/use-stoppable";
import { useTrpcClient } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { JsonView } from "@/components/ui/json-view";
import { Dialog } from "@/components/ui/overlay/dialog";
import { PageLink } from "@/components/ui/page-link";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Spinner } from "@/components/ui/spinner";
import { TimeText } from "@/components/ui/time-text";
import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import { formatDollars } from "@/server/domain/model/cost";
import type {
  DeliveryComparison,
  DeliveryOutcome,
  DeliveryReplay,
  DeliveryStatus,
} from "@/server/domain/scenario/deliveries";
import type { Trigger } from "./trigger-kinds";

const STATUS: Readonly<
  Record<DeliveryStatus, { label: string; tone: "neutral" | "waiting" | "completed" | "accent" }>
> = {
  same: { label: "Same", tone: "completed" },
  different: { label: "Different", tone: "accent" },
  unanswered: { label: "New calls", tone: "waiting" },
  not_run: { label: "Not replayed", tone: "neutral" },
};

/** What the draft would have done with a trigger's last deliveries, next to what happened. */
export function DeliveryReplayDialog({
  trigger,
  text,
  onClose,
}: {
  trigger: Trigger;
  text: string;
  onClose: () => void;
}) {
  const { run, stop } = useStoppable(useTrpcClient().triggers.replay.mutate);
  const [money, setMoney] = useState({ ...NO_MONEY, real: true });
  // The first replay calls no model: it is free and estimates the cost of the rest.
  const begin = useRef(run.mutate);
  useEffect(() => begin.current({ trigger_id: trigger.id }), [trigger.id]);
  const replay = run.isPending ? undefined : run.data;
  const unanswered = replay?.deliveries.filter(({ status }) => status === "unanswered").length ?? 0;
  const canAsk = replay !== undefined && !replay.spending && unanswered > 0;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="xl"
      title="Replay on draft"
      description={`What the draft would have done with the last deliveries of “${text}”. Equal requests get their recorded answers, and no tool has side effects.`}
      footer={
        <>
          {run.isPending ? <Button onClick={stop}>Stop</Button> : null}
          {canAsk ? (
            <Button
              disabled={!isWhole(money)}
              onClick={() => run.mutate({ trigger_id: trigger.id, ...moneyOf(money) })}
            >
              Replay with models
            </Button>
          ) : null}
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={run.error} />
        {run.isPending ? (
          <p role="status" className="flex items-center gap-2 py-8 text-sm text-ink-2">
            <Spinner size={16} /> Replaying… Closing this dialog stops it.
          </p>
        ) : null}
        {replay ? <Summary replay={replay} /> : null}
        {canAsk ? (
          <section aria-label="Cost" className="flex flex-col gap-2 rounded-lg border border-line p-3">
            <p className="text-[13px]">
              {countOf(unanswered, "delivery", "deliveries")} would make calls that weren't recorded.{" "}
              {replay.estimate_usd === null
                ? "What they cost the first time is unknown."
                : `The first time, their runs cost ${formatDollars(replay.estimate_usd)}.`}
            </p>
            <MoneyFields money={money} onChange={setMoney} canBeOff={false} />
          </section>
        ) : null}
        {replay && replay.deliveries.length > 0 ? (
          <ul aria-label="Deliveries, newest first" className="flex flex-col gap-2">
            {replay.deliveries.map((one) => (
              <DeliveryRow key={one.key} delivery={one} />
            ))}
          </ul>
        ) : null}
      </div>
    </Dialog>
  );
}

function Summary({ replay: { deliveries, spending } }: { replay: DeliveryReplay }) {
  if (deliveries.length === 0)
    return <p className="py-6 text-center text-sm text-ink-2">None of its runs has finished yet.</p>;
  const count = (status: DeliveryStatus) => deliveries.filter((one) => one.status === status).length;
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 text-[13px]">
      {(Object.keys(STATUS) as DeliveryStatus[])
        .filter((status) => count(status) > 0)
        .map((status) => (
          <Badge key={status} tone={STATUS[status].tone}>
            {count(status)} {STATUS[status].label.toLowerCase()}
          </Badge>
        ))}
      {spending ? (
        <span className="text-ink-2">
          {spending.spent_usd === null ? "Cost unknown" : `Spent ${formatDollars(spending.spent_usd)}`}
          {spending.stopped ? `. ${spending.stopped}` : ""}
        </span>
      ) : null}
    </div>
  );
}

function DeliveryRow({ delivery }: { delivery: DeliveryComparison }) {
  const { at, run_id, status, sentence, recorded, draft } = delivery;
  const { label, tone } = STATUS[status];
  return (
    <li className="rounded-lg border border-line px-3 py-2 text-[13px]">
      <div className="flex flex-wrap items-center gap-3">
        <Badge tone={tone}>{label}</Badge>
        <TimeText at={at} className="flex-1" />
        <PageLink href={`/runs/${run_id}`} className="text-accent underline-offset-2 hover:underline">
          Open run
        </PageLink>
      </div>
      {sentence ? <p className="mt-1 text-xs text-ink-2">{sentence}</p> : null}
      {draft ? (
        <Disclosure title="Outcomes" isOpen={status === "different"}>
          <div className="grid gap-3 md:grid-cols-2">
            <Outcome title="Recorded" outcome={recorded} />
            <Outcome title="Draft" outcome={draft} />
          </div>
        </Disclosure>
      ) : null}
    </li>
  );
}

function Outcome({ title, outcome }: { title: string; outcome: DeliveryOutcome }) {
  const { final_status, error, output, path, tokens, cost_usd, simulated } = outcome;
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1">
      <h3 className="flex flex-wrap items-center gap-2 font-semibold">
        {title}
        {simulated ? <SimulatedBadge /> : null}
      </h3>
      <p className="text-xs text-ink-2">
        {final_status ? FINAL_STATUS_LABELS[final_status] : "Unfinished"} · {countOf(path.length, "node")} ·{" "}
        {formatTokens(tokens)} tokens{cost_usd === null ? "" : ` · ${formatDollars(cost_usd)}`}
      </p>
      {error ? <p className="text-xs text-failed">{error}</p> : null}
      <JsonView value={output} label={`Output: ${title}`} />
    </section>
  );
}
