import type { ReactNode } from "react";
import { ComparisonTable } from "@/components/display/comparison-table";
import { formatDuration, formatList, formatTokens } from "@/components/display/format";
import { Button } from "@/components/ui/button";
import { isSameJson } from "@/server/domain/base/json";
import { formatDollars } from "@/server/domain/model/cost";
import { getNodeKind } from "@/server/domain/nodes";
import type { NodeComparison, RunComparison, RunTotals } from "@/server/domain/run/compare/compare";
import type { Divergence } from "@/server/domain/run/compare/divergence";
import type { KeyChange } from "@/server/domain/run/past/step-change";
import { person } from "../timeline/sentence-parts";
import { describeDifference } from "./compare-canvas";
import { SideLetter } from "./side-letter";
import { WordDiff } from "./word-diff";

const WHY = {
  node: "only one run reached it",
  status: "different status",
  output: "different output",
  way: "different route",
} as const;

interface Apart {
  id: string;
  /** How many times the node had run by then, including this time. */
  time: number;
  why: keyof typeof WHY;
}

/** The first step that differs; null if none does, or if it is the start and its input differs. */
export function firstApart({ first, graph, input }: RunComparison): Apart | null {
  const [id, time] = (first?.b ?? first?.a)?.split("#") ?? [];
  const node = id === undefined ? undefined : graph.nodes[id];
  if (!first || !node || (input.length > 0 && getNodeKind(node.node_type).hasEntry === false)) return null;
  return { id: node.id, time: Number(time ?? 1), why: first.why };
}

/** How two runs differ, with the selected node in detail. */
export function Differences({
  comparison,
  divergence,
  selected,
  onSelect,
}: {
  comparison: RunComparison;
  divergence: Divergence | null;
  selected: string | null;
  onSelect: (id: string | null) => void;
}) {
  const node = comparison.nodes.find(({ id }) => id === selected);
  return (
    <>
      <Summary comparison={comparison} first={firstApart(comparison)} onSelect={onSelect} />
      {node ? <OneNode key={node.id} node={node} onClose={() => onSelect(null)} /> : null}
      {divergence ? <FirstDivergence divergence={divergence} nodes={comparison.nodes} /> : null}
      <Changes title="Input" changes={comparison.input} />
      <Changes
        title="Output"
        changes={comparison.output.filter((one) => !comparison.input.some((other) => isSameJson(one, other)))}
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
      <Path nodes={comparison.nodes} onSelect={onSelect} />
    </>
  );
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
          {formatList(input.map(({ key }) => `“${key}”`))}. Later differences may result from this.
        </p>
      ) : null}
      {first ? (
        <p>
          First difference at{" "}
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
      {difference === null && input.length === 0 ? <p>No differences.</p> : null}
      {is_same_graph ? null : (
        <p className="text-ink-2">The runs used different workflow versions. Both are shown.</p>
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
    <Section title="Same request, different response">
      <p className="text-[13px]">
        {what === "model"
          ? `The model for ${who} received the same prompt in both runs.`
          : `${who} called ${tool_name} with the same arguments in both runs.`}{" "}
        This is the first response that differs. It may not explain the outcome.
      </p>
      <WordDiff before={answers.a} after={answers.b} />
    </Section>
  );
}

const SIDES = (["a", "b"] as const).map((side) => ({ key: side, name: <SideLetter side={side} /> }));

function Totals({ totals }: { totals: RunComparison["totals"] }) {
  const row = (name: string, show: (run: RunTotals) => string) => ({
    key: name,
    name: <span className="text-ink-2">{name}</span>,
    cells: SIDES.map(({ key }) => show(totals[key])),
  });
  return (
    <ComparisonTable
      label="Run totals"
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

const money = (usd: number | null) => (usd === null ? "unknown" : formatDollars(usd));

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
          {`A: ${formatTokens(a.tokens)} tokens, ${formatDuration(a.ms)} · B: ${formatTokens(b.tokens)} tokens, ${formatDuration(b.ms)}`}
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
