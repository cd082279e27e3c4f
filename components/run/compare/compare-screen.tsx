"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowLeftRight, CircleSlash2 } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useMemo, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { withRoomBelow } from "@/components/canvas/layout/places";
import { SLIP } from "@/components/canvas/layout/routes";
import { ViewModeSwitch } from "@/components/canvas/view-mode-switch";
import { ComparisonTable } from "@/components/display/comparison-table";
import { formatDuration, formatList, formatTokens } from "@/components/display/format";
import { statusWord } from "@/components/display/status-mark";
import { PageError } from "@/components/page/error-text";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Spinner } from "@/components/ui/spinner";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { isSameJson } from "@/server/domain/base/json";
import { formatDollars } from "@/server/domain/model/cost";
import { getNodeKind } from "@/server/domain/nodes";
import type { NodeComparison, RunComparison, RunTotals } from "@/server/domain/run/compare/compare";
import type { Divergence } from "@/server/domain/run/compare/divergence";
import type { KeyChange } from "@/server/domain/run/past/step-change";
import type { RunSummary } from "../history/run-row";
import { runStatus } from "../status";
import { person } from "../timeline/sentence-parts";
import { compareOnCanvas, describeDifference } from "./compare-canvas";
import { WordDiff } from "./word-diff";
import "./compare.css";

/** What distinguishes one run from another. */
type ComparedRun = Pick<RunSummary, "workflow_id" | "workflow_name" | "created_at" | "input_excerpt">;

/** Two runs on one canvas: their paths, state, outputs and totals. */
export function CompareScreen({
  a,
  b,
  bisect,
}: {
  a: string;
  b: string;
  /** Bisects the runs; shown if they differ. */
  bisect: (found: { comparison: RunComparison; onSelect: (id: string) => void }) => ReactNode;
}) {
  const trpc = useTrpc();
  const { data, error, isPending } = useQuery(trpc.runs.compare.queryOptions({ run_id: a, with: b }));
  const runs = {
    a: useQuery(trpc.runs.get.queryOptions({ run_id: a })).data,
    b: useQuery(trpc.runs.get.queryOptions({ run_id: b })).data,
  };
  const roles = useQuery(trpc.roles.list.queryOptions()).data;
  const byName = useMemo(() => new Map(roles?.map(({ role }) => [role.name, role])), [roles]);
  if (error)
    return (
      <PageError
        icon={<CircleSlash2 />}
        title="These runs cannot be compared"
        error={error}
        back={{ href: "/runs", label: "All runs" }}
      />
    );
  if (isPending)
    return (
      <div className="flex h-full items-center justify-center text-ink-3">
        <Spinner size={20} label="Loading the runs" />
      </div>
    );
  const bisectFrom = (onSelect: (id: string) => void) =>
    data.parted || data.first ? bisect({ comparison: data, onSelect }) : null;
  return (
    <Compared
      {...{ a, b, runs }}
      bisect={bisectFrom}
      comparison={data}
      divergence={data.parted}
      roles={byName}
    />
  );
}

const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();

interface ComparedProps {
  a: string;
  b: string;
  runs: { a: ComparedRun | undefined; b: ComparedRun | undefined };
  comparison: RunComparison;
  divergence: Divergence | null;
  /** For the agents' faces and colors. */
  roles?: ReadonlyMap<string, RoleDefinition> | undefined;
  bisect?: (onSelect: (id: string) => void) => ReactNode;
}

export function Compared({ a, b, runs, comparison, divergence, roles, bisect }: ComparedProps) {
  const first = firstApart(comparison);
  const [selected, setSelected] = useState<string | null>(first?.id ?? null);
  const [view, setView] = useState<"list" | "drawing">("list");
  const isNarrow = useMedia(NARROW);
  const graph = useMemo(() => withRoomBelow(comparison.graph, SLIP), [comparison]);
  const run = useMemo(() => compareOnCanvas(comparison), [comparison]);
  const node = comparison.nodes.find(({ id }) => id === selected);
  const bisection = bisect?.(setSelected);
  return (
    <div className="compare flex h-full min-h-0 flex-col bg-bg">
      <Header {...{ a, b, runs }} totals={comparison.totals} />
      <div className="relative flex min-h-0 flex-1 flex-col md:flex-row">
        {isNarrow ? <ViewModeSwitch viewMode={view} onChange={setView} /> : null}
        {isNarrow && view === "list" ? null : (
          <div className="min-h-0 min-w-0 flex-1">
            <CanvasProvider>
              <GraphCanvas
                graph={graph}
                label="Drawing of both runs"
                roles={roles ?? NO_ROLES}
                run={run}
                selectedId={selected}
                onSelect={setSelected}
              />
            </CanvasProvider>
          </div>
        )}
        {isNarrow && view === "drawing" ? null : (
          <aside
            aria-label="Differences"
            className="flex min-h-0 flex-col gap-5 overflow-y-auto border-line bg-surface p-4 max-md:flex-1 md:w-[min(34rem,44%)] md:border-l"
          >
            <Summary comparison={comparison} first={first} onSelect={setSelected} />
            {node ? <OneNode key={node.id} node={node} onClose={() => setSelected(null)} /> : null}
            {divergence ? <FirstDivergence divergence={divergence} nodes={comparison.nodes} /> : null}
            <Changes title="Input" changes={comparison.input} />
            <Changes
              title="Output"
              changes={comparison.output.filter(
                (one) => !comparison.input.some((other) => isSameJson(one, other)),
              )}
            />
            <Changes
              title="State"
              changes={comparison.state.filter(
                ({ key }) =>
                  !comparison.output.some((one) => one.key === key) &&
                  !comparison.input.some((one) => one.key === key),
              )}
            />
            <Totals totals={comparison.totals} />
            <Path nodes={comparison.nodes} onSelect={setSelected} />
            {bisection ? (
              <Disclosure variant="box" title="Which step made the difference?">
                {bisection}
              </Disclosure>
            ) : null}
          </aside>
        )}
      </div>
    </div>
  );
}

function Header({
  a,
  b,
  runs,
  totals,
}: Pick<ComparedProps, "a" | "b" | "runs"> & { totals: RunComparison["totals"] }) {
  return (
    <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-surface px-3 py-2 md:px-4">
      <Link
        href="/runs"
        aria-label="All runs"
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
      >
        <ArrowLeft aria-hidden className="size-4" />
      </Link>
      <h1 className="truncate text-[15px] font-semibold max-md:flex-1">Compare runs</h1>
      <ButtonLink
        href={`/runs/compare?a=${encodeURIComponent(b)}&b=${encodeURIComponent(a)}`}
        size="sm"
        className="md:order-last"
        icon={<ArrowLeftRight aria-hidden />}
      >
        Swap
      </ButtonLink>
      <OneRun side="a" id={a} run={runs.a} totals={totals.a} />
      <OneRun side="b" id={b} run={runs.b} totals={totals.b} />
    </header>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Identifies a run: letter and color, workflow, start and input. */
function OneRun({
  side,
  id,
  run,
  totals,
}: {
  side: "a" | "b";
  id: string;
  run: ComparedRun | undefined;
  totals: RunTotals;
}) {
  return (
    <section
      aria-label={`Run ${side.toUpperCase()}`}
      className="flex min-w-0 flex-1 items-center gap-2.5 text-[13px] leading-5 max-md:basis-full"
    >
      <Letter side={side} />
      <div className="min-w-0">
        <p className="flex min-w-0 items-baseline gap-x-2">
          <Link
            href={`/workflows/${run?.workflow_id ?? "-"}/runs/${encodeURIComponent(id)}`}
            className="min-w-0 truncate font-medium text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
          >
            {run ? `${run.workflow_name || "A workflow"}, ${TIME.format(run.created_at)}` : "Open the run"}
          </Link>
          <span className="shrink-0 text-ink-2">
            {statusWord(runStatus("finished", totals.final_status))}
          </span>
        </p>
        {run?.input_excerpt ? (
          <p title={run.input_excerpt} className="truncate text-ink-2">
            {run.input_excerpt}
          </p>
        ) : null}
      </div>
    </section>
  );
}

const Letter = ({ side }: { side: "a" | "b" }) => (
  <span
    data-only={side}
    className="inline-flex size-5 shrink-0 items-center justify-center rounded-md bg-(--own) text-xs font-semibold text-bg"
  >
    {side.toUpperCase()}
  </span>
);

const WHY = {
  node: "only one run reached it",
  status: "different status",
  output: "different output",
  way: "different branch",
} as const;

interface Apart {
  id: string;
  /** How many times the node had run by then, including this time. */
  time: number;
  why: keyof typeof WHY;
}

/** The first step that differs; null if none does, or if it is the start and its input differs. */
function firstApart({ first, graph, input }: RunComparison): Apart | null {
  const [id, time] = (first?.b ?? first?.a)?.split("#") ?? [];
  const node = id === undefined ? undefined : graph.nodes[id];
  if (!first || !node || (input.length > 0 && getNodeKind(node.node_type).hasEntry === false)) return null;
  return { id: node.id, time: Number(time ?? 1), why: first.why };
}

/** One sentence about the first difference. */
function Summary({
  comparison: { first: difference, input, nodes, is_same_graph },
  first,
  onSelect,
}: {
  comparison: RunComparison;
  first: Apart | null;
  onSelect: (id: string) => void;
}) {
  return (
    <div className="flex flex-col gap-1 text-[13px]">
      {input.length > 0 ? (
        <p>
          <strong className="font-semibold">Different inputs</strong>:{" "}
          {formatList(input.map(({ key }) => `“${key}”`))}. Later differences may follow from that.
        </p>
      ) : null}
      {first ? (
        <p>
          The same up to{" "}
          <button
            type="button"
            onClick={() => onSelect(first.id)}
            className="font-semibold text-accent hover:text-accent-hover"
          >
            {nodes.find(({ id }) => id === first.id)?.name}
            {first.time === 1 ? "" : ` ×${first.time}`}
          </button>
          : {WHY[first.why]}.
        </p>
      ) : null}
      {difference === null && input.length === 0 ? <p>Both runs did the same, step by step.</p> : null}
      {is_same_graph ? null : (
        <p className="text-ink-2">The runs used different versions of the workflow; both are shown here.</p>
      )}
    </div>
  );
}

/** The earliest different answer to the same request; not necessarily the cause. */
function FirstDivergence({
  divergence,
  nodes,
}: {
  divergence: Divergence;
  nodes: readonly NodeComparison[];
}) {
  const { what, tool_name, agent_id, node_id, answers } = divergence;
  const name = nodes.find(({ id }) => id === node_id)?.name ?? node_id;
  const who = agent_id === undefined ? name : `${person(agent_id)} (${name})`;
  return (
    <Section title="Asked the same, answered otherwise">
      <p className="text-[13px]">
        {what === "model"
          ? `The model of ${who} was sent the very same prompt in both runs.`
          : `${who} called ${tool_name} with the same arguments in both runs.`}{" "}
        It is the earliest such answer; whether it decided how the run ended, this does not tell.
      </p>
      <WordDiff before={answers.a} after={answers.b} />
    </Section>
  );
}

const SIDES = (["a", "b"] as const).map((side) => ({ key: side, name: <Letter side={side} /> }));

function Totals({ totals }: { totals: RunComparison["totals"] }) {
  const row = (name: string, show: (run: RunTotals) => string) => ({
    key: name,
    name: <span className="text-ink-2">{name}</span>,
    cells: SIDES.map(({ key }) => show(totals[key])),
  });
  return (
    <ComparisonTable
      label="Tokens, cost and time of both runs"
      rowHeader="Total"
      columns={SIDES}
      rows={[
        row("Tokens", ({ tokens }) => formatTokens(tokens)),
        row("Cost", ({ cost_usd }) => money(cost_usd)),
        row("Time", ({ ms }) => formatDuration(ms)),
        row("Steps", ({ steps }) => String(steps)),
      ]}
    />
  );
}

const money = (usd: number | null) => (usd === null ? "not known" : formatDollars(usd));

function Section({
  title,
  onMount,
  children,
}: {
  title: string;
  onMount?: (section: HTMLElement | null) => void;
  children: ReactNode;
}) {
  return (
    <section ref={onMount} aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      {children}
    </section>
  );
}

const intoView = (section: HTMLElement | null) => section?.scrollIntoView({ block: "nearest" });

function OneNode({ node: { name, a, b, differs }, onClose }: { node: NodeComparison; onClose: () => void }) {
  return (
    <Section title={name} onMount={intoView}>
      <p className="flex items-baseline gap-2 text-[13px]">
        <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          {differs.length === 0
            ? "Same in both"
            : differs.includes("output")
              ? "Different output"
              : describeDifference(a, b, differs)}
        </span>
        <Button size="sm" variant="ghost" onClick={onClose}>
          Close
        </Button>
      </p>
      {a && b ? (
        <p className="text-xs text-ink-3 tabular-nums">
          {formatTokens(a.tokens)} and {formatTokens(b.tokens)} tokens, {formatDuration(a.ms)} and{" "}
          {formatDuration(b.ms)}
        </p>
      ) : null}
      {differs.includes("output") ? <WordDiff before={single(a?.output)} after={single(b?.output)} /> : null}
    </Section>
  );
}

/** An output of one key by its value alone. */
function single(output: NonNullable<NodeComparison["a"]>["output"]) {
  const values = Object.values(output ?? {});
  return values.length === 1 ? values[0] : output;
}

function Changes({ title, changes }: { title: string; changes: readonly KeyChange[] }) {
  if (changes.length === 0) return null;
  return (
    <Section title={title}>
      <dl className="flex flex-col gap-3">
        {changes.map(({ key, before, after }) => (
          <div key={key} className="flex min-w-0 flex-col gap-1">
            <dt className="font-mono text-xs">
              {key}
              <span className="ml-2 font-sans text-ink-3">
                {before === undefined ? "only in B" : after === undefined ? "only in A" : ""}
              </span>
            </dt>
            <dd className="min-w-0">
              <WordDiff before={before} after={after} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Path({ nodes, onSelect }: { nodes: readonly NodeComparison[]; onSelect: (id: string) => void }) {
  return (
    <Section title="Steps">
      <ul className="flex flex-col divide-y divide-line text-[13px]">
        {nodes.map(({ id, name, a, b, differs }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onSelect(id)}
              className="flex w-full items-baseline gap-3 py-1.5 text-left hover:text-accent"
            >
              <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
              <span
                className={
                  differs.length === 0 ? "shrink-0 text-xs text-ink-3" : "min-w-0 truncate text-xs text-ink-2"
                }
              >
                {describeDifference(a, b, differs)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
