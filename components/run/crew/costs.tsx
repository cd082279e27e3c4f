"use client";

import { useState } from "react";
import { formatTokens } from "@/components/display/format";
import { person } from "@/components/run/timeline/sentence-parts";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { formatCost } from "@/server/domain/model/cost";
import type { ModelCall } from "@/server/domain/run";
import { costsBy } from "./members";

/** Tokens and cost by agent, by role or by model. */
export function Costs({ calls }: { calls: readonly ModelCall[] }) {
  const [by, setBy] = useState<"agent" | "role" | "model">("agent");
  const rows = costsBy(calls, by);
  return (
    <div className="flex flex-col gap-3">
      <SegmentedControl
        label="Group by"
        size="sm"
        className="self-start"
        value={by}
        onValueChange={setBy}
        options={[
          { value: "agent", label: "By agent" },
          { value: "role", label: "By role" },
          { value: "model", label: "By model" },
        ]}
      />
      {rows.length === 0 ? (
        <p className="text-[13px] text-ink-3">No completed model calls yet.</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="w-full text-[13px] tabular-nums">
            <thead>
              <tr className="border-b border-line text-left text-xs text-ink-3 [&>th]:py-1.5 [&>th]:font-normal">
                <th scope="col">{by === "agent" ? "Agent" : by === "role" ? "Role" : "Model"}</th>
                <th scope="col" className="!text-right">
                  Calls
                </th>
                <th scope="col" className="!text-right">
                  Tokens in
                </th>
                <th scope="col" className="!text-right">
                  Tokens out
                </th>
                <th scope="col" className="!text-right">
                  Cost
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.name} className="border-b border-line last:border-0 [&>td]:py-1.5 [&>td]:pl-3">
                  <th scope="row" className="max-w-40 truncate py-1.5 text-left font-medium">
                    {by === "agent" ? person(row.name) : row.name}
                  </th>
                  <td className="text-right">{row.calls}</td>
                  <td className="text-right">{formatTokens(row.input_tokens)}</td>
                  <td className="text-right">{formatTokens(row.output_tokens)}</td>
                  <td className="text-right">{formatCost(row)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
