"use client";

import { Flag, TriangleAlert } from "lucide-react";
import { Costs } from "@/components/run/crew/costs";
import { EmptyState } from "@/components/ui/empty-state";
import { CopyButton } from "@/components/ui/json-view";
import { StatusMark } from "@/components/ui/status-mark";
import type { ModelCall, RunState } from "@/server/domain/run";
import { ErrorNote } from "./error-note";
import { Part } from "./node-view";
import { useRun, useRunList } from "./run-context";
import { runStatus } from "./status";
import { KeyValues } from "./values";

/** What the run handed out, and how it ended. */
export function OutputView() {
  const run = useRun<RunState["run"] | undefined>(({ state }) => state.run, undefined);
  const input = useRun<RunState["input"] | undefined>(({ state }) => state.input, undefined);
  const calls = useRunList<ModelCall>(({ state }) => Object.values(state.calls));
  if (!run) return null;
  return (
    <div className="flex flex-col gap-5 p-4">
      {run.status === "finished" ? (
        <div className="flex items-center gap-2">
          <StatusMark status={runStatus(run.status, run.final_status)} withWord />
          {run.output && Object.keys(run.output).length > 0 ? (
            <CopyButton
              text={JSON.stringify(run.output, null, 2)}
              label="Copy the output as JSON"
              className="ml-auto"
            />
          ) : null}
        </div>
      ) : null}
      {run.error && run.final_status !== "COMPLETED" ? (
        <ErrorNote error={run.error} isPause={run.final_status === "INCOMPLETE"} />
      ) : null}
      {run.status === "finished" ? (
        <Part title="Output">
          <KeyValues
            values={run.output ?? {}}
            label="output of the run"
            empty="The run handed out nothing."
          />
        </Part>
      ) : (
        <EmptyState icon={<Flag />} title="No output yet" className="!py-6">
          It appears here when the run ends.
        </EmptyState>
      )}
      {run.warnings.length > 0 ? (
        <Part title="Warnings">
          <ul className="flex flex-col gap-1.5">
            {[...new Set(run.warnings)].map((warning) => (
              <li key={warning} className="flex gap-2 text-[13px]">
                <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
                <span className="min-w-0 [overflow-wrap:anywhere]">{warning}</span>
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      {calls.length > 0 ? (
        <Part title="Tokens and cost">
          <Costs calls={calls} />
        </Part>
      ) : null}
      {input && Object.keys(input).length > 0 ? (
        <Part title="Input">
          <KeyValues values={input} label="input of the run" />
        </Part>
      ) : null}
    </div>
  );
}
