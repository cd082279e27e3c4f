"use client";

import clsx from "clsx";
import { Ban, Check, FileText, Hammer, TriangleAlert, Wrench } from "lucide-react";
import { formatDuration } from "@/components/display/format";
import { Badge } from "@/components/ui/badge";
import { Disclosure } from "@/components/ui/disclosure";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Spinner } from "@/components/ui/spinner";
import type { ToolCallView } from "@/server/domain/run";
import { TOOL_STATUSES } from "@/server/domain/tool/tool";
import { Ticking } from "../live/elapsed";
import { useRun } from "../run-context";
import { useRunPage } from "../run-page-context";
import { ValueView } from "../values";

/** Longer arguments and results start collapsed. In characters. */
const SHORT = 240;

/** One tool call: arguments, result and notes. */
export function ToolCallCard({ call }: { call: ToolCallView }) {
  const asked = JSON.stringify(call.args);
  const hasArgs = Object.keys(call.args).length > 0;
  return (
    <section
      aria-label={`Tool ${call.tool_name}`}
      className={clsx(
        "flex min-w-0 flex-col gap-1 rounded-lg border px-2.5 py-2",
        call.status === "refused" || call.status === "failed" ? "border-waiting/40" : "border-line",
        call.status === "running" && "border-running/40",
      )}
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Wrench aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <code className="min-w-0 truncate font-mono text-xs font-medium">{call.tool_name}</code>
        <Outcome call={call} />
        {call.repaired ? (
          <Badge icon={<Hammer aria-hidden />} className="cursor-help">
            <span title="Invalid JSON was repaired">repaired</span>
          </Badge>
        ) : null}
        {call.simulated ? <SimulatedBadge /> : null}
      </header>
      {hasArgs ? (
        <Disclosure
          title="Arguments"
          aside={asked.slice(0, 120)}
          isOpen={asked.length <= SHORT && Object.keys(call.args).length < 4}
        >
          <ValueView value={call.args} label={`arguments of ${call.tool_name}`} />
        </Disclosure>
      ) : null}
      {call.error !== undefined ? (
        <p className="text-[13px] [overflow-wrap:anywhere]">{call.error}</p>
      ) : call.output !== undefined ? (
        <Disclosure
          title="Result"
          aside={(typeof call.output === "string" ? call.output : JSON.stringify(call.output)).slice(0, 120)}
        >
          <ValueView value={call.output} label={`result of ${call.tool_name}`} />
        </Disclosure>
      ) : null}
      {call.artifact_id ? <WholeResult artifactId={call.artifact_id} /> : null}
    </section>
  );
}

function Outcome({ call }: { call: ToolCallView }) {
  if (call.status === "stopped") return <span className="text-xs text-ink-3">Stopped</span>;
  if (call.status === "running")
    return (
      <span className="flex items-center gap-1.5 text-xs text-ink-3">
        <Spinner size={12} />
        <Ticking from={call.started_at} />
      </span>
    );
  const code = call.status_code;
  const statusText = code === undefined ? "" : TOOL_STATUSES[code];
  const isDone = call.status === "completed";
  const isRejected = call.status === "refused";
  return (
    <>
      <Badge
        tone={isDone ? "completed" : isRejected ? "waiting" : "failed"}
        icon={
          isDone ? <Check aria-hidden /> : isRejected ? <Ban aria-hidden /> : <TriangleAlert aria-hidden />
        }
      >
        <span title={code === undefined ? undefined : `Status ${code}`}>
          {isDone ? code : isRejected ? `Blocked: ${statusText.toLowerCase()}` : `${statusText} (${code})`}
        </span>
      </Badge>
      {call.finished_at !== undefined && !isRejected ? (
        <span className="text-xs text-ink-3 tabular-nums">
          {formatDuration(call.finished_at - call.started_at)}
        </span>
      ) : null}
    </>
  );
}

/** Where a result was cut, the whole of it is a file of the run. */
function WholeResult({ artifactId }: { artifactId: string }) {
  const page = useRunPage();
  const path = useRun(
    ({ head }) => Object.values(head.files).find(({ artifact_id }) => artifact_id === artifactId)?.path,
    undefined,
  );
  if (!page || !path) return null;
  return (
    <button
      type="button"
      onClick={() => page.openFile(path)}
      className="inline-flex items-center gap-1.5 self-start px-1 text-xs font-medium text-accent hover:text-accent-hover pointer-coarse:min-h-9"
    >
      <FileText aria-hidden className="size-3.5" />
      Full result
    </button>
  );
}
