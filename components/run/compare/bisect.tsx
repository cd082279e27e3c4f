"use client";

import { useMutation } from "@tanstack/react-query";
import { Split } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import type { BisectReport, BisectTry, RunDifference } from "@/server/domain/run/bisect/report";
import type { RunComparison } from "@/server/domain/run/compare/compare";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { WordDiff } from "./word-diff";

type What = "status" | "path" | "state";

/** Asks which of the things that two runs had otherwise made the difference; found by replaying both records. */
export function Bisect({
  a,
  b,
  comparison: { nodes, totals },
  onSelect,
}: {
  a: string;
  b: string;
  comparison: RunComparison;
  onSelect: (id: string) => void;
}) {
  const paths = nodes.filter(({ differs }) => differs.includes("path"));
  const endedOtherwise = totals.a.final_status !== totals.b.final_status;
  const [good, setGood] = useState<"a" | "b">("a");
  const [what, setWhat] = useState<What>(endedOtherwise ? "status" : paths.length > 0 ? "path" : "state");
  const [node, setNode] = useState(paths[0]?.id ?? nodes[0]?.id ?? "");
  const [when, setWhen] = useState("");
  const find = useMutation(useTrpc().runs.bisect.mutationOptions());
  const visited = nodes.find(({ id }) => id === node);
  const expectation = expectationOf(what, {
    status: totals[good].final_status,
    node,
    isVisited: (visited?.[good]?.count ?? 0) > 0,
    when,
  });
  return (
    <section
      aria-label="Which step made the difference?"
      className="flex flex-col gap-3 rounded-xl border border-line p-3"
    >
      <h2 className="text-[13px] font-semibold">Which step made the difference?</h2>
      <p className="text-[13px] text-ink-2">
        Both runs are carried out again from their records, with more and more of what differs taken from the
        good one. No model and no tool is called.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <SegmentedControl
          label="The good run"
          size="sm"
          value={good}
          onValueChange={setGood}
          options={[
            { value: "a", label: "A was good" },
            { value: "b", label: "B was good" },
          ]}
        />
        <SegmentedControl
          label="What was good in it"
          size="sm"
          value={what}
          onValueChange={setWhat}
          options={[
            { value: "status", label: "How it ended" },
            { value: "path", label: "Its way" },
            { value: "state", label: "A condition" },
          ]}
        />
      </div>
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (expectation)
            find.mutate({ run_id: good === "a" ? b : a, good: good === "a" ? a : b, expect: expectation });
        }}
      >
        {what === "path" ? (
          <Select
            label={
              (visited?.[good]?.count ?? 0) > 0 ? "The good run came to" : "The good run did not come to"
            }
            value={node}
            onValueChange={setNode}
            options={(paths.length > 0 ? paths : nodes).map(({ id, name }) => ({ value: id, label: name }))}
          />
        ) : null}
        {what === "state" ? (
          <TextField
            label="What holds in the good run, and not in the other"
            placeholder="state.approval_status == 'approved'"
            value={when}
            onValueChange={setWhen}
            className="font-mono"
          />
        ) : null}
        <Button
          type="submit"
          icon={<Split aria-hidden />}
          pending={find.isPending}
          disabled={!expectation}
          className="self-start"
        >
          Find it
        </Button>
      </form>
      {find.error ? (
        <p role="alert" className="text-[13px] text-failed [overflow-wrap:anywhere]">
          {toApiError(find.error).message}
        </p>
      ) : null}
      {find.data ? <Report report={find.data} bad={find.variables?.run_id ?? b} onSelect={onSelect} /> : null}
    </section>
  );
}

function expectationOf(
  what: What,
  {
    status,
    node,
    isVisited,
    when,
  }: { status: string | null; node: string; isVisited: boolean; when: string },
): RuleExpectation | null {
  if (what === "state") return when.trim() === "" ? null : { kind: "state", when };
  if (what === "path")
    return node === "" ? null : { kind: "path", nodes: [node], mode: isVisited ? "visited" : "never" };
  return status === "COMPLETED" || status === "ERROR" || status === "INCOMPLETE" || status === "CANCELLED"
    ? { kind: "status", is: status }
    : null;
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
      <ul aria-label="Where" className="flex flex-col gap-3">
        {places.slice(0, 12).flatMap((at) => {
          const difference = differences[at];
          return difference ? [<Place key={at} difference={difference} bad={bad} onSelect={onSelect} />] : [];
        })}
      </ul>
      <Disclosure title={`${countOf(tries.length, "replay")} tried`}>
        <ol className="flex flex-col gap-1 text-xs">
          {tries.map((one) => (
            <li key={one.from_good} className="[overflow-wrap:anywhere]">
              {takenInWords(one, differences.length)}:{" "}
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
  holds: "it holds.",
  fails: "it fails.",
  unknown: "not known.",
};

const takenInWords = ({ from_good }: BisectTry, all: number): string =>
  from_good === 0
    ? "All as in the bad run"
    : from_good === all
      ? "All as in the good run"
      : `The first ${from_good} of ${countOf(all, "difference")} as in the good run`;

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
            Show the node
          </Button>
        )}
        {bad_seq === undefined ? null : (
          <Link
            href={`/runs/${encodeURIComponent(bad)}`}
            className="text-xs text-accent underline-offset-2 hover:underline"
          >
            The bad run, at event {bad_seq}
          </Link>
        )}
      </p>
      {good === null && other === null ? null : (
        <WordDiff before={good ?? "nothing"} after={other ?? "nothing"} />
      )}
    </li>
  );
}
