"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowLeftRight, CircleSlash2 } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useMemo, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { withRoomBelow } from "@/components/canvas/places";
import { SLIP } from "@/components/canvas/routes";
import { formatDuration, formatTokens } from "@/components/display/format";
import { statusWord } from "@/components/display/status-mark";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Spinner } from "@/components/ui/spinner";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { formatDollars } from "@/server/domain/model/cost";
import type { NodeComparison, RunComparison, RunTotals } from "@/server/domain/run/compare/compare";
import type { Parted } from "@/server/domain/run/compare/parted";
import type { KeyChange } from "@/server/domain/run/past/step-change";
import { runStatus } from "../status";
import { person } from "../timeline/sentence-words";
import { compareOnCanvas, saidOf } from "./compare-canvas";
import { WordDiff } from "./word-diff";

/** Two runs on one drawing: the ways they took, what they wrote and gave, and what they cost. */
export function CompareScreen({
  a,
  b,
  find: asks,
}: {
  a: string;
  b: string;
  /** Asks which step made the difference; drawn where there is one. */
  find: (found: { comparison: RunComparison; onSelect: (id: string) => void }) => ReactNode;
}) {
  const trpc = useTrpc();
  const { data, error, isPending } = useQuery(trpc.runs.compare.queryOptions({ run_id: a, with: b }));
  const roles = useQuery(trpc.roles.list.queryOptions()).data;
  const byName = useMemo(() => new Map(roles?.map(({ role }) => [role.name, role])), [roles]);
  if (error)
    return (
      <EmptyState
        icon={<CircleSlash2 />}
        isPage
        title="These runs cannot be compared"
        className="h-full justify-center"
        actions={
          <ButtonLink href="/runs" variant="primary">
            All runs
          </ButtonLink>
        }
      >
        {toApiError(error).message}
      </EmptyState>
    );
  if (isPending)
    return (
      <div className="flex h-full items-center justify-center text-ink-3">
        <Spinner size={20} label="Loading the runs" />
      </div>
    );
  const find = (onSelect: (id: string) => void) =>
    data.parted || data.first ? asks({ comparison: data, onSelect }) : null;
  return <Compared a={a} b={b} comparison={data} parted={data.parted} roles={byName} find={find} />;
}

const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();

/** Two runs that are there. */
export function Compared({
  a,
  b,
  comparison,
  parted,
  roles,
  find,
}: {
  a: string;
  b: string;
  comparison: RunComparison;
  parted: Parted | null;
  /** For the faces and colours of those who work. */
  roles?: ReadonlyMap<string, RoleDefinition> | undefined;
  /** Asks which step made the difference. */
  find?: (onSelect: (id: string) => void) => ReactNode;
}) {
  const [selected, setSelected] = useState<string | null>(comparison.first?.b?.split("#")[0] ?? null);
  const graph = useMemo(() => withRoomBelow(comparison.graph, SLIP), [comparison]);
  const run = useMemo(() => compareOnCanvas(comparison), [comparison]);
  const node = comparison.nodes.find(({ id }) => id === selected);
  return (
    <div className="flex h-full min-h-0 flex-col bg-bg">
      <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-surface px-3 py-2 md:px-4">
        <Link
          href="/runs"
          aria-label="All runs"
          className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <h1 className="min-w-0 flex-1 truncate text-[15px] font-semibold max-sm:basis-[80%]">
          Two runs compared
        </h1>
        <RunLink name="A" id={a} totals={comparison.totals.a} />
        <RunLink name="B" id={b} totals={comparison.totals.b} />
        <ButtonLink
          href={`/runs/compare?a=${encodeURIComponent(b)}&b=${encodeURIComponent(a)}`}
          size="sm"
          icon={<ArrowLeftRight aria-hidden />}
        >
          Swap
        </ButtonLink>
      </header>
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        <div className="min-h-0 min-w-0 flex-1 max-md:h-[40%] max-md:flex-none">
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
        <aside
          aria-label="What is other"
          className="flex min-h-0 flex-col gap-5 overflow-y-auto border-line bg-surface p-4 max-md:flex-1 max-md:border-t md:w-[min(34rem,44%)] md:border-l"
        >
          <First comparison={comparison} onSelect={setSelected} />
          {parted ? <PartedHere parted={parted} nodes={comparison.nodes} /> : null}
          {find?.(setSelected)}
          <Totals totals={comparison.totals} />
          {node ? <OneNode node={node} onClose={() => setSelected(null)} /> : null}
          <Changes title="Input" changes={comparison.input} />
          <Changes title="Output" changes={comparison.output} />
          <Changes
            title="State"
            changes={comparison.state.filter(
              ({ key }) =>
                !comparison.output.some((one) => one.key === key) &&
                !comparison.input.some((one) => one.key === key),
            )}
          />
          <Path nodes={comparison.nodes} onSelect={setSelected} />
        </aside>
      </div>
    </div>
  );
}

function RunLink({ name, id, totals }: { name: string; id: string; totals: RunTotals }) {
  return (
    <Link
      href={`/runs/${encodeURIComponent(id)}`}
      className="text-[13px] text-ink-2 underline-offset-2 hover:text-accent hover:underline"
    >
      <strong className="font-semibold">{name}</strong>{" "}
      {statusWord(runStatus("finished", totals.final_status))}
    </Link>
  );
}

const WHY = {
  node: "only one of them ran it",
  status: "it ended otherwise",
  output: "it gave something else",
  way: "it took another way",
} as const;

function First({
  comparison: { first, nodes, is_same_graph },
  onSelect,
}: {
  comparison: RunComparison;
  onSelect: (id: string) => void;
}) {
  const id = (first?.b ?? first?.a)?.split("#");
  const name = nodes.find((node) => node.id === id?.[0])?.name;
  return (
    <div className="flex flex-col gap-1 text-[13px]">
      {first === null || id === undefined ? (
        <p>Both runs did the same, step by step.</p>
      ) : (
        <p>
          The same up to{" "}
          <button
            type="button"
            onClick={() => onSelect(id[0] ?? "")}
            className="font-semibold text-accent hover:text-accent-hover"
          >
            {name}
            {id[1] === "1" ? "" : ` ×${id[1]}`}
          </button>
          : {WHY[first.why]}.
        </p>
      )}
      {is_same_graph ? null : (
        <p className="text-ink-2">They ran on different drawings; both are shown here.</p>
      )}
    </div>
  );
}

/** The earliest answer that was other though the question was the same: whether it made the difference, it does not say. */
function PartedHere({ parted, nodes }: { parted: Parted; nodes: readonly NodeComparison[] }) {
  const { what, tool_name, agent_id, node_id, answers } = parted;
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

function Totals({ totals: { a, b } }: { totals: RunComparison["totals"] }) {
  const rows: [string, string, string][] = [
    ["Tokens", formatTokens(a.tokens), formatTokens(b.tokens)],
    ["Cost", money(a.cost_usd), money(b.cost_usd)],
    ["Time", formatDuration(a.ms), formatDuration(b.ms)],
    ["Steps", String(a.steps), String(b.steps)],
  ];
  return (
    <table className="w-full text-[13px] tabular-nums">
      <caption className="sr-only">What both runs took</caption>
      <thead>
        <tr className="text-left text-xs text-ink-3">
          <td />
          <th scope="col" className="py-1 text-right font-medium">
            A
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            B
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, one, other]) => (
          <tr key={name} className="border-t border-line">
            <th scope="row" className="py-1 text-left font-normal text-ink-2">
              {name}
            </th>
            <td className="text-right">{one}</td>
            <td className="text-right font-medium">{other}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const money = (usd: number | null) => (usd === null ? "not known" : formatDollars(usd));

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      {children}
    </section>
  );
}

function OneNode({ node: { name, a, b, differs }, onClose }: { node: NodeComparison; onClose: () => void }) {
  return (
    <Section title={name}>
      <p className="flex items-baseline gap-2 text-[13px]">
        <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          {differs.length === 0
            ? "Same in both"
            : differs.includes("output")
              ? "It gave something else"
              : saidOf(a, b, differs)}
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
                {saidOf(a, b, differs)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
