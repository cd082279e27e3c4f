import { CircleCheck, CircleX } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { JsonView } from "@/components/ui/json-view";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { TOOL_STATUSES, type ToolOutput } from "@/server/domain/tool/tool";

/** The result of a tool call: status, output or error, and duration. */
export function ToolResult({ output, duration }: { output: ToolOutput; duration: number }) {
  const isDone = output.status_code === 200;
  const Icon = isDone ? CircleCheck : CircleX;
  return (
    <section aria-label="Result" className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-[13px]">
        <Icon aria-hidden="true" className={`size-4 ${isDone ? "text-completed" : "text-failed"}`} />
        <span className="font-medium">{TOOL_STATUSES[output.status_code]}</span>
        <span className="text-ink-3 tabular-nums">
          {output.status_code}, {duration < 1000 ? `${duration} ms` : `${(duration / 1000).toFixed(1)} s`}
        </span>
        {output.simulated ? <SimulatedBadge /> : null}
        {output.tainted ? <Badge>Untrusted</Badge> : null}
      </p>
      {output.error === undefined ? null : (
        <p
          role="alert"
          className="rounded-lg bg-failed/8 px-3 py-2 text-[13px] text-failed [overflow-wrap:anywhere]"
        >
          {output.error}
        </p>
      )}
      {output.output === undefined ? null : typeof output.output === "string" ? (
        <pre
          tabIndex={0}
          className="max-h-96 overflow-auto whitespace-pre-wrap rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5 [overflow-wrap:anywhere]"
        >
          {output.output}
        </pre>
      ) : (
        <JsonView label="Output" value={output.output} className="max-h-96 overflow-auto" />
      )}
    </section>
  );
}
