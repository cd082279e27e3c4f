"use client";

import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { formatDollars } from "@/server/domain/model/cost";
import type { Judged } from "@/server/domain/scenario/report";
import { LabelChoice } from "./label-choice";
import { agreementWords, useJudged } from "./use-judges";

/** What a judge said in a report, and what the person says beside it. */
export function JudgedResult({ judged, workflowId }: { judged: Judged; workflowId: string }) {
  const { outputs, label } = useJudged(workflowId, judged.judge);
  const output = outputs.data?.find(({ item }) => item === judged.item);
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">
        {judged.simulated ? <SimulatedBadge /> : null}
        <span>{judged.model}</span>
        <span>{costWords(judged)}</span>
        <span>{agreementWords(judged)}</span>
      </p>
      {output ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <span>Is this output good?</span>
          <LabelChoice
            about="Is this output good?"
            good={output.good}
            onLabel={(good) => label(judged.item, good)}
          />
        </div>
      ) : null}
    </div>
  );
}

const costWords = ({ recorded, cost_usd }: Judged): string =>
  recorded ? "Said so before" : cost_usd === null ? "Price unknown" : formatDollars(cost_usd);
