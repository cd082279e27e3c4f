"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { CircleCheck, CircleSlash2, Hourglass, type LucideIcon, TriangleAlert } from "lucide-react";
import Link from "next/link";
import { formatBytes } from "@/components/display/format";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import {
  engineLabel,
  loadLabel,
  outboxLabel,
  stalledRunText,
  WORKER_STATE_LABELS,
} from "@/server/domain/run/engine-labels";
import type { WorkerState } from "@/server/domain/run/engine-state";
import { Fact } from "./about-section";

type Engine = Answers["engine"]["get"];

/** Polling intervals in milliseconds; longer if the server executes the runs itself, where little changes. */
const POLL_INTERVAL_MS = { restate: 3_000, embedded: 30_000 } as const;

/** The engine that executes runs, its workers, and runs that are stuck. */
export function EngineSection({ version }: { version: string | undefined }) {
  const engine = useQuery({
    ...useTrpc().engine.get.queryOptions(),
    refetchInterval: ({ state: { data } }) => POLL_INTERVAL_MS[data?.kind ?? "embedded"],
  });
  return (
    <Panel flush title="Engine" description="Where runs execute.">
      {engine.data ? (
        <Standing engine={engine.data} version={version} />
      ) : (
        <p className={clsx("p-4 text-[13px]", engine.error ? "text-failed" : "text-ink-2")}>
          {engine.error ? toApiError(engine.error).message : "Loading…"}
        </p>
      )}
    </Panel>
  );
}

function Standing({ engine, version }: { engine: Engine; version: string | undefined }) {
  const { kind, message, workers, at_work, outbox, troubled } = engine;
  const isRemote = kind === "restate" || at_work > 0;
  return (
    <>
      {message === null ? null : (
        <p
          role="status"
          className="flex gap-2 border-b border-line bg-waiting/6 px-4 py-3 text-[13px] [overflow-wrap:anywhere]"
        >
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
          {message}
        </p>
      )}
      <dl className="divide-y divide-line">
        <Fact name="Runs on">{engineLabel(engine)}</Fact>
        {isRemote ? (
          <>
            <Fact name="Active on workers">{at_work === 1 ? "1 run" : `${at_work} runs`}</Fact>
            <Fact name="Outbox">
              {outboxLabel(outbox.waiting)}
              {outbox.oldest_at === null ? null : (
                <>
                  ; the oldest arrived <TimeText at={outbox.oldest_at} />
                </>
              )}
            </Fact>
          </>
        ) : null}
      </dl>
      {workers.length > 0 ? <Workers workers={workers} version={version} /> : null}
      {isRemote ? null : <HowToAdd />}
      {troubled.length > 0 ? <StuckRuns troubled={troubled} /> : null}
    </>
  );
}

function HowToAdd() {
  return (
    <p className="border-t border-line px-4 py-2.5 text-[13px] text-ink-2">
      To run workers in other processes, start the engine with <Command>npm run engine</Command>, any number
      of workers with <Command>npm run worker</Command>, and this server with{" "}
      <Command>TROUPE_ENGINE=restate</Command>.
    </p>
  );
}

const Command = ({ children }: { children: string }) => (
  <code className="font-mono text-xs whitespace-nowrap text-ink">{children}</code>
);

const APPEARANCES: Readonly<Record<WorkerState["state"], { icon: LucideIcon; color: string }>> = {
  working: { icon: CircleCheck, color: "text-completed" },
  draining: { icon: Hourglass, color: "text-waiting" },
  gone: { icon: CircleSlash2, color: "text-ink-3" },
};
const ORDER = Object.keys(APPEARANCES);

function Workers({ workers, version }: { workers: readonly WorkerState[]; version: string | undefined }) {
  const sorted = workers.toSorted(
    (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.name.localeCompare(b.name, "en"),
  );
  return (
    <ul aria-label="Workers" className="divide-y divide-line border-t border-line">
      {sorted.map((worker) => (
        <WorkerRow key={worker.id} worker={worker} version={version} />
      ))}
    </ul>
  );
}

function WorkerRow({ worker, version }: { worker: WorkerState; version: string | undefined }) {
  const { icon: Icon, color } = APPEARANCES[worker.state];
  const isOther = version !== undefined && worker.version !== version;
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <Icon aria-hidden className={clsx("mt-0.5 size-4.5 shrink-0", color)} strokeWidth={1.75} />
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span
            className={clsx(
              "min-w-0 font-medium [overflow-wrap:anywhere]",
              worker.state === "gone" && "text-ink-2",
            )}
          >
            {worker.name}
          </span>
          {worker.labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          <span className="text-[13px] text-ink-2">{WORKER_STATE_LABELS[worker.state]}</span>
        </p>
        <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-[13px] text-ink-2 tabular-nums">
          {worker.state === "gone" ? null : (
            <>
              <span>{loadLabel(worker)}</span>
              <span>{formatBytes(worker.memory_bytes)}</span>
            </>
          )}
          <span>
            Troupe {worker.version}
            {isOther ? ` (this server: ${version})` : ""}
          </span>
          <span>
            Last heartbeat <TimeText at={worker.seen_at} />
          </span>
        </p>
      </div>
    </li>
  );
}

/** Stuck runs, each with the reason and the consequence. */
function StuckRuns({ troubled }: Pick<Engine, "troubled">) {
  return (
    <section aria-labelledby="engine-troubled" className="border-t border-line bg-waiting/6 px-4 py-3">
      <h3 id="engine-troubled" className="mb-1 flex items-center gap-2 text-[13px] font-semibold">
        <TriangleAlert aria-hidden className="size-4 text-waiting" />
        {troubled.length === 1 ? "1 stalled run" : `${troubled.length} stalled runs`}
      </h3>
      <ul className="flex flex-col gap-1.5">
        {troubled.map(({ run_id, workflow_id, workflow_name, ...issue }) => (
          <li key={run_id} className="text-[13px] [overflow-wrap:anywhere]">
            <Link
              href={`/workflows/${workflow_id ?? "-"}/runs/${run_id}`}
              className="font-medium text-accent hover:text-accent-hover"
            >
              {workflow_name || "Workflow"}
            </Link>
            : {stalledRunText(issue)}
          </li>
        ))}
      </ul>
    </section>
  );
}
