"use client";

import { useMutation } from "@tanstack/react-query";
import { GitCompare, Split } from "lucide-react";
import Link from "next/link";
import { useMemo, useState } from "react";
import { newExpectation } from "@/components/display/describe-expectation";
import { countOf } from "@/components/display/format";
import { FormScopeContext } from "@/components/forms/form-scope";
import { ErrorText } from "@/components/page/error-text";
import { CompareScreen } from "@/components/run/compare/compare-screen";
import { WordDiff } from "@/components/run/compare/word-diff";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { EmptyState } from "@/components/ui/empty-state";
import { Form } from "@/components/ui/input/form";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { FinalStatus } from "@/server/domain/agent/outcome";
import type { BisectReport, BisectTry, RunDifference } from "@/server/domain/run/bisect/report";
import type { RunComparison } from "@/server/domain/run/compare/compare";
import {
  type Expectation,
  type ExpectationKind,
  RuleExpectation,
} from "@/server/domain/scenario/expectation";
import { ExpectationEditor } from "./expectation-fields";
import { errorsOf, errorsUnder, NEW_TEST, scopeOf } from "./test-draft";

/** A verdict is not part of a run's log. */
const NOT_HERE: readonly ExpectationKind[] = ["judge"];

/** Bisects two runs: finds the step that makes an expectation fail by replaying both logs. */
export function Bisect({
  a,
  b,
  comparison,
  onSelect,
}: {
  a: string;
  b: string;
  comparison: RunComparison;
  onSelect: (id: string) => void;
}) {
  const { graph } = comparison;
  const [good, setGood] = useState<"a" | "b">("a");
  // Default: something that holds in the good run only.
  const [chosen, setChosen] = useState<Expectation | null>(null);
  const expectation = chosen ?? firstOf(comparison, good);
  const find = useMutation(useTrpc().runs.bisect.mutationOptions());
  const scope = useMemo(() => scopeOf(graph), [graph]);
  const errors = errorsOf(graph, { ...NEW_TEST, name: "bisect", expect: [expectation] });
  const read = RuleExpectation.safeParse(expectation);
  const own = Object.entries(errors).filter(([place]) => place.startsWith("expect.0"));
  const whole = errors["expect.0"];
  return (
    <section aria-label="Bisect" className="flex flex-col gap-3">
      <p className="text-[13px] text-ink-2">
        Replays both runs to find the step that made the difference. Doesn't call models or tools.
      </p>
      <SegmentedControl
        label="Good run"
        size="sm"
        className="self-start"
        value={good}
        onValueChange={setGood}
        options={[
          { value: "a", label: "A is good" },
          { value: "b", label: "B is good" },
        ]}
      />
      <Form
        aria-label="Bisect condition"
        className="flex flex-col gap-3"
        onSubmit={() => {
          if (read.success && own.length === 0)
            find.mutate({ run_id: good === "a" ? b : a, good: good === "a" ? a : b, expect: read.data });
        }}
      >
        <p className="text-[13px] text-ink-2">A condition that only the good run meets:</p>
        <FormScopeContext.Provider value={scope}>
          <ExpectationEditor
            graph={graph}
            expectation={expectation}
            except={NOT_HERE}
            begin={(kind) => beginOf(kind, comparison, good)}
            errors={chosen ? errorsUnder(errors, "expect.0") : {}}
            onChange={setChosen}
          />
        </FormScopeContext.Provider>
        <ErrorText error={chosen && whole} />
        <Button
          type="submit"
          icon={<Split aria-hidden />}
          pending={find.isPending}
          disabled={!read.success || own.length > 0}
          className="self-start"
        >
          Start bisect
        </Button>
      </Form>
      <ErrorText error={find.error} />
      {find.data ? <Report report={find.data} bad={find.variables?.run_id ?? b} onSelect={onSelect} /> : null}
    </section>
  );
}

/** The first difference of the runs: final status, else path, else a condition. */
function firstOf(comparison: RunComparison, good: "a" | "b"): Expectation {
  const { a, b } = comparison.totals;
  const differs = comparison.nodes.some((node) => node.differs.includes("path"));
  return beginOf(
    a.final_status === b.final_status ? (differs ? "path" : "state") : "status",
    comparison,
    good,
  );
}

/** An expectation of that kind that holds in the good run, as far as the comparison shows. */
function beginOf(
  kind: ExpectationKind,
  { graph, nodes, totals }: RunComparison,
  good: "a" | "b",
): Expectation {
  const ended = FinalStatus.safeParse(totals[good].final_status);
  if (kind === "status" && ended.success) return { kind, is: ended.data };
  const divergent = nodes.find(({ differs }) => differs.includes("path")) ?? nodes[0];
  const count = divergent?.[good]?.count ?? 0;
  if (kind === "path" && divergent)
    return { kind, nodes: [divergent.id], mode: count > 0 ? "visited" : "never" };
  return kind === "visits" && divergent
    ? { kind, node: divergent.id, times: count }
    : newExpectation(kind, graph);
}

function Report({
  report: { sentence, step, between = [], differences, tries },
  bad,
  onSelect,
}: {
  report: BisectReport;
  bad: string;
  onSelect: (id: string) => void;
}) {
  const places = step === undefined ? between : [step];
  return (
    <div role="status" className="flex flex-col gap-2 text-[13px]">
      <p className="font-medium [overflow-wrap:anywhere]">{sentence}</p>
      <ul aria-label="Differences" className="flex flex-col gap-3">
        {places.slice(0, 12).flatMap((at) => {
          const difference = differences[at];
          return difference ? [<Place key={at} difference={difference} bad={bad} onSelect={onSelect} />] : [];
        })}
      </ul>
      <Disclosure title={`Ran ${countOf(tries.length, "replay")}`}>
        <ol className="flex flex-col gap-1 text-xs">
          {tries.map((one) => (
            <li key={one.from_good} className="[overflow-wrap:anywhere]">
              {describeChoice(one, differences.length)}:{" "}
              <strong className="font-semibold">{OUTCOMES[one.outcome]}</strong>{" "}
              <span className="text-ink-2">{one.why}</span>
            </li>
          ))}
        </ol>
      </Disclosure>
    </div>
  );
}

const OUTCOMES: Readonly<Record<BisectTry["outcome"], string>> = {
  holds: "passes",
  fails: "fails",
  unknown: "unknown",
};

const describeChoice = ({ from_good }: BisectTry, all: number): string =>
  from_good === 0
    ? "Same as the bad run"
    : from_good === all
      ? "Same as the good run"
      : `First ${from_good} of ${countOf(all, "difference")} from the good run`;

function Place({
  difference: { title, node_id, good, bad: other, bad_seq },
  bad,
  onSelect,
}: {
  difference: RunDifference;
  bad: string;
  onSelect: (id: string) => void;
}) {
  return (
    <li className="flex min-w-0 flex-col gap-1">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{title}</span>
        {node_id === undefined ? null : (
          <Button size="sm" variant="ghost" onClick={() => onSelect(node_id)}>
            Show node
          </Button>
        )}
        {bad_seq === undefined ? null : (
          <Link
            href={`/runs/${encodeURIComponent(bad)}`}
            className="text-xs text-accent underline-offset-2 hover:underline"
          >
            Bad run, at event {bad_seq}
          </Link>
        )}
      </p>
      {good === null && other === null ? null : (
        <WordDiff before={good ?? "nothing"} after={other ?? "nothing"} />
      )}
    </li>
  );
}

/** The page of two runs. `pair`: null if the address does not name two. */
export const CompareRuns = ({ pair }: { pair: { a: string; b: string } | null }) =>
  pair ? (
    <CompareScreen {...pair} bisect={(found) => <Bisect {...pair} {...found} />} />
  ) : (
    <EmptyState
      isPage
      icon={<GitCompare />}
      title="Compare two runs"
      className="h-full justify-center"
      actions={
        <ButtonLink href="/runs" variant="primary">
          All runs
        </ButtonLink>
      }
    >
      Select two runs in the list to compare them.
    </EmptyState>
  );
