"use client";

import { Crosshair } from "lucide-react";
import Link from "next/link";
import { describeExpectation, KINDS } from "@/components/display/describe-expectation";
import { countOf, formatDuration, formatTokens } from "@/components/display/format";
import { TestMark } from "@/components/display/test-mark";
import { DifferenceView } from "@/components/run/replay/request-difference";
import { Badge } from "@/components/ui/badge";
import { Disclosure } from "@/components/ui/disclosure";
import { JsonView } from "@/components/ui/json-view";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { FINAL_STATUS_LABELS } from "@/server/domain/agent/outcome";
import type { Json } from "@/server/domain/base/values";
import { formatDollars } from "@/server/domain/model/cost";
import type { ExpectationResult, Judged, TestReport } from "@/server/domain/scenario/report";
import { useTestedWorkflow } from "./use-tests";

/** The report of a test: each expectation with its expected and actual value, and its node. */
export function ReportView({ report }: { report: TestReport }) {
  const { outcome, results, question, missed, problems, repeats } = report;
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-1.5">
        <p className="flex flex-wrap items-center gap-2">
          <TestMark status={report.status} withWord />
          {outcome?.simulated ? <SimulatedBadge full /> : null}
          {outcome?.real ? <Badge>With real models</Badge> : null}
          {repeats ? (
            <span className="text-[13px] text-ink-2">
              Passed {repeats.passed} of {countOf(repeats.times, "time")}; {repeats.at_least} required
            </span>
          ) : null}
        </p>
        <p className="text-[13px] leading-5 [overflow-wrap:anywhere]">{report.sentence}</p>
        {missed ? (
          <>
            <Place nodeId={missed.node_id} />
            <DifferenceView of={missed.difference} />
          </>
        ) : null}
        {question ? (
          <>
            <p className="text-[13px] text-ink-2">
              {question.options ? `Possible answers: ${question.options.join(", ")}. ` : ""}
              Add an answer to the test under “People's answers”.
            </p>
            <Place nodeId={question.node_id} />
          </>
        ) : null}
        {problems.length > 1 ? (
          <ul aria-label="Problems" className="flex list-disc flex-col gap-1 pl-4 text-[13px]">
            {problems.map((problem) => (
              <li key={problem} className="[overflow-wrap:anywhere]">
                {problem}
              </li>
            ))}
          </ul>
        ) : null}
      </div>
      {results.length > 0 ? (
        <ol
          aria-label="Expectations"
          className="flex flex-col divide-y divide-line rounded-xl border border-line"
        >
          {results.map((result) => (
            <Result key={result.at} result={result} />
          ))}
        </ol>
      ) : null}
      {outcome ? <OutcomeFacts outcome={outcome} /> : null}
    </div>
  );
}

function Result({ result }: { result: ExpectationResult }) {
  const { graph } = useTestedWorkflow();
  const { expectation, status, sentence, expected, seen, node_id } = result;
  const failed = status === "failed";
  return (
    <li className="flex min-w-0 gap-3 px-3.5 py-3">
      <span className="pt-0.5">
        <TestMark status={status} />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-1 text-[13px] leading-5">
        <p className="flex min-w-0 gap-2">
          <span className="shrink-0 text-ink-3">{KINDS[expectation.kind].label}</span>
          <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">
            {describeExpectation(expectation, graph)}
          </span>
        </p>
        <p className="font-medium [overflow-wrap:anywhere]">{sentence}</p>
        {result.judge ? <VerdictFacts judged={result.judge} /> : null}
        {failed ? <Place nodeId={node_id} /> : null}
        {failed && (expected !== undefined || seen !== undefined) ? (
          <Disclosure title="Expected vs. actual" isOpen>
            <div className="grid gap-2 sm:grid-cols-2">
              <Side title="Expected" value={expected} />
              <Side title="Actual" value={seen} />
            </div>
          </Disclosure>
        ) : null}
      </div>
    </li>
  );
}

/** Which model judged, and what that cost. */
const VerdictFacts = ({ judged: { model, simulated, recorded, cost_usd } }: { judged: Judged }) => (
  <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">
    <Badge>Model verdict</Badge>
    {simulated ? <SimulatedBadge /> : null}
    <span>{model}</span>
    <span>{recorded ? "Reused verdict" : cost_usd === null ? "Price unknown" : formatDollars(cost_usd)}</span>
  </p>
);

function Side({ title, value }: { title: string; value: Json | undefined }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs text-ink-3">{title}</p>
      {value === undefined ? (
        <p className="text-ink-3">See the expectation above</p>
      ) : (
        <JsonView value={value} label={title} openDepth={2} />
      )}
    </div>
  );
}

function OutcomeFacts({ outcome }: { outcome: NonNullable<TestReport["outcome"]> }) {
  const { graph } = useTestedWorkflow();
  const { final_status, reason_code, path, tokens, cost_usd, duration_ms, unused_answers } = outcome;
  const facts: (readonly [string, string])[] = [
    [
      "Ended",
      final_status === null
        ? "Didn't finish"
        : `${FINAL_STATUS_LABELS[final_status]}${final_status === "COMPLETED" || !reason_code ? "" : `, ${reason_code}`}`,
    ],
    ["Path", path.map((id) => graph.nodes[id]?.name || id).join(", ") || "Nothing ran"],
    ["Tokens", formatTokens(tokens)],
    ["Cost", cost_usd === null ? "Price unknown" : formatDollars(cost_usd)],
    ["Time", `${formatDuration(duration_ms)}, simulated; tests skip waits`],
    ...(unused_answers > 0 ? [["Unused", countOf(unused_answers, "recorded answer")] as const] : []),
  ];
  return (
    <section aria-label="Test run">
      <h3 className="mb-1.5 text-[13px] font-medium">Test run</h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
        {facts.map(([name, text]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="[overflow-wrap:anywhere]">{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A link to a node on the canvas; nothing if it does not exist. */
function Place({ nodeId }: { nodeId: string | undefined }) {
  const { workflowId, graph } = useTestedWorkflow();
  const node = nodeId === undefined ? undefined : graph.nodes[nodeId];
  if (!node) return null;
  return (
    <Link
      href={`/workflows/${workflowId}?node=${encodeURIComponent(node.id)}`}
      className="inline-flex items-center gap-1.5 self-start rounded-md text-[13px] text-accent underline decoration-dotted underline-offset-2 hover:text-accent-hover"
    >
      <Crosshair aria-hidden className="size-3.5" />
      Show {node.name || node.id} on the canvas
    </Link>
  );
}
