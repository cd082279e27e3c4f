"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { countOf } from "@/components/display/format";
import { ErrorText } from "@/components/page/error-text";
import type { Answers } from "@/components/trpc";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { PageLink } from "@/components/ui/page-link";
import { TimeText } from "@/components/ui/time-text";
import { BackfillDialog } from "./backfill-dialog";
import { DeliveryReplayDialog } from "./deliveries-dialog";
import type { Trigger } from "./trigger-kinds";

type Fire = Answers["triggers"]["fires"][number];

const STATUS: Readonly<
  Record<Fire["status"], { label: string; tone: "neutral" | "waiting" | "failed" | "completed" }>
> = {
  started: { label: "Started", tone: "completed" },
  pending: { label: "Starting", tone: "neutral" },
  buffered: { label: "Queued", tone: "waiting" },
  skipped: { label: "Skipped", tone: "neutral" },
  missed: { label: "Missed", tone: "waiting" },
  failed: { label: "Failed", tone: "failed" },
};

/** The fires of a trigger, and a schedule's next planned times. */
export function TriggerHistory({
  trigger,
  text,
  onClose,
}: {
  trigger: Trigger;
  text: string;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const fires = useQuery(
    trpc.triggers.fires.queryOptions({ trigger_id: trigger.id }, { refetchInterval: 5_000 }),
  );
  const replay = useDialog((close) => <DeliveryReplayDialog {...{ trigger, text }} onClose={close} />);
  const hasRuns = fires.data?.some(({ run_id }) => run_id !== null) ?? false;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title="Trigger history"
      description={text}
      footer={
        <>
          {hasRuns ? (
            <Button className="mr-auto" icon={<FlaskConical aria-hidden />} onClick={replay.open}>
              Replay on draft
            </Button>
          ) : null}
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      {replay.dialog}
      {trigger.kind === "schedule" && trigger.enabled ? (
        <Planned trigger={trigger} fires={fires.data} />
      ) : null}
      <ErrorText error={fires.error} />
      {fires.data?.length ? (
        <ul aria-label="Fires, newest first" className="divide-y divide-line rounded-lg border border-line">
          {fires.data.slice(0, 100).map((fire) => (
            <FireRow key={fire.key} trigger={trigger} fire={fire} />
          ))}
        </ul>
      ) : fires.error ? null : (
        <p className="py-6 text-center text-sm text-ink-2">
          {fires.isPending ? "Loading…" : "It hasn't started a run yet."}
        </p>
      )}
    </Dialog>
  );
}

/** A schedule's next and missed planned times, in its time zone. */
function Planned({ trigger, fires = [] }: { trigger: Trigger; fires?: readonly Fire[] | undefined }) {
  const { data } = useQuery(useTrpc().triggers.upcoming.queryOptions({ trigger_id: trigger.id }));
  const missed = fires.filter(({ status }) => status === "missed");
  const since = missed.at(-1)?.planned_at;
  const backfill = useDialog((close) => <BackfillDialog trigger={trigger} since={since} onClose={close} />);
  if (!data) return null;
  const time_zone = String(trigger.config.time_zone);
  const moment = new Intl.DateTimeFormat(undefined, {
    ...{ dateStyle: "full", timeStyle: "short", timeZone: time_zone },
  });
  return (
    <section aria-label="Next runs" className="mb-4">
      <div className="mb-1 flex items-center gap-2">
        <h3 className="mr-auto text-[13px] font-semibold">Next runs, {time_zone}</h3>
        <Button size="sm" onClick={backfill.open}>
          Backfill…
        </Button>
      </div>
      <ol className="flex flex-col gap-0.5 text-[13px] text-ink-2">
        {data.next.map((at) => (
          <li key={at}>{moment.format(at)}</li>
        ))}
      </ol>
      {missed.length > 0 ? (
        <p className="mt-2 text-[13px] text-waiting">
          Missed {countOf(missed.length, "planned time")}. Backfill runs them.
        </p>
      ) : null}
      {backfill.dialog}
    </section>
  );
}

function FireRow({ trigger, fire }: { trigger: Trigger; fire: Fire }) {
  const refresh = useInvalidate("triggers", "runs");
  const retry = useMutation(useTrpc().triggers.retry.mutationOptions({ onSettled: () => void refresh() }));
  const { label, tone } = STATUS[fire.status];
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-[13px]">
      <Badge tone={tone}>{label}</Badge>
      <span className="min-w-0 flex-1">
        <TimeText at={fire.planned_at} />
        {fire.is_test ? <span className="text-ink-3"> · Test</span> : null}
        {fire.reason ? <span className="block text-xs text-ink-2">{fire.reason}</span> : null}
      </span>
      {fire.run_id ? (
        <PageLink href={`/runs/${fire.run_id}`} className="text-accent underline-offset-2 hover:underline">
          Open run
        </PageLink>
      ) : fire.status === "failed" || fire.status === "missed" ? (
        <Button
          size="sm"
          pending={retry.isPending}
          onClick={() => retry.mutate({ trigger_id: trigger.id, key: fire.key })}
        >
          Run now
        </Button>
      ) : null}
    </li>
  );
}
