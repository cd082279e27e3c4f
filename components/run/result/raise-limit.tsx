"use client";

import { useMutation } from "@tanstack/react-query";
import { CirclePlay } from "lucide-react";
import { useState } from "react";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { NumberField } from "@/components/ui/input/number-field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Popover } from "@/components/ui/overlay/popover";
import type { RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import { must } from "@/server/domain/base/must";
import { useRun } from "../run-context";
import { describeLimit, limitValue } from "../timeline/sentence-parts";

/** Resumes a run that stopped at a limit, after asking for a new limit. */
export function RaiseLimit({ runId, onRaised }: { runId: string; onRaised: () => void }) {
  const resumable = useRun<readonly RaisableLimit[] | undefined>(({ head }) => head.run.resumable, undefined);
  const config = useRun<RunConfig | null>(({ head }) => head.run.config, null);
  const [isOpen, setOpen] = useState(false);
  if (!resumable || resumable.length === 0 || !config) return null;
  return (
    <Popover
      title="Raise limit and resume"
      open={isOpen}
      onOpenChange={setOpen}
      align="end"
      trigger={
        <Button variant="primary" icon={<CirclePlay aria-hidden />}>
          <span>
            Raise limit<span className="max-sm:sr-only"> and resume</span>
          </span>
        </Button>
      }
    >
      <RaiseForm
        runId={runId}
        limits={resumable}
        config={config}
        onRaised={() => {
          setOpen(false);
          onRaised();
        }}
      />
    </Popover>
  );
}

function RaiseForm({
  runId,
  limits,
  config,
  onRaised,
}: {
  runId: string;
  limits: readonly RaisableLimit[];
  config: RunConfig;
  onRaised: () => void;
}) {
  const [limit, setLimit] = useState<RaisableLimit>(must(limits, 0));
  const now = currentLimit(config, limit);
  const unit = UNITS[limit];
  const [to, setTo] = useState<number | null>(null);
  const value = to ?? rounded((now ?? unit.scale) / unit.scale) * 2;
  const raise = useMutation(
    useTrpc().runs.raiseLimit.mutationOptions({
      onSuccess: onRaised,
    }),
  );
  const isHigher = now === null || value * unit.scale > now;
  return (
    <Form
      className="flex flex-col gap-3"
      onSubmit={() => {
        if (isHigher) raise.mutate({ run_id: runId, limit, to: wholeIfNeeded(limit, value * unit.scale) });
      }}
    >
      {limits.length > 1 ? (
        <SegmentedControl
          label="Limit"
          value={limit}
          onValueChange={(next) => {
            setLimit(next);
            setTo(null);
          }}
          options={limits.map((name) => ({ value: name, label: describeLimit(name) }))}
        />
      ) : null}
      <NumberField
        label={`New limit for ${describeLimit(limit)}`}
        hint={now === null ? undefined : `Current limit: ${limitValue(limit, now)}`}
        error={isHigher ? undefined : "Must be higher than the current limit."}
        unit={unit.word}
        value={value}
        min={0}
        step={unit.step}
        onValueChange={setTo}
      />
      <Button type="submit" variant="primary" pending={raise.isPending} disabled={!isHigher}>
        Raise and resume
      </Button>
    </Form>
  );
}

const UNITS: Record<RaisableLimit, { word?: string; scale: number; step: number }> = {
  max_steps: { scale: 1, step: 50 },
  max_global_iterations: { scale: 1, step: 20 },
  max_active_ms: { word: "min", scale: 60_000, step: 5 },
  max_log_chars: { word: "characters", scale: 1, step: 16_777_216 },
  max_cost_usd: { word: "US$", scale: 1, step: 0.1 },
  max_total_tokens: { word: "tokens", scale: 1, step: 10_000 },
};

function currentLimit(config: RunConfig, limit: RaisableLimit): number | null {
  if (limit === "max_cost_usd") return config.budget.max_cost_usd ?? null;
  if (limit === "max_total_tokens") return config.budget.max_total_tokens ?? null;
  return config[limit];
}

const wholeIfNeeded = (limit: RaisableLimit, value: number) =>
  limit === "max_cost_usd" ? value : Math.round(value);
const rounded = (value: number) => Number(value.toPrecision(3));
