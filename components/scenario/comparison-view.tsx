"use client";

import { countOf, formatDuration, formatTokens } from "@/components/display/format";
import { TestMark } from "@/components/display/test-mark";
import { Disclosure } from "@/components/ui/disclosure";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { formatDollars } from "@/server/domain/model/cost";
import type { ComparisonCell, ComparisonReport, VariantReport } from "@/server/domain/scenario/comparison";
import type { TestStatus } from "@/server/domain/scenario/report";

/** Variants side by side: in all, and input by input. */
export function ComparisonView({ report }: { report: ComparisonReport }) {
  const { variants, cases, notes, spending } = report;
  return (
    <div className="flex flex-col gap-5">
      <NumberTable
        label="In all"
        rows={variants.map((variant, at) => ({
          key: at,
          name: variant.name,
          ...totalOf(variant, cases.length),
        }))}
      />
      {spending ? (
        <p className="text-[13px]">
          {spending.spent_usd === null ? "An unknown sum" : formatDollars(spending.spent_usd)} of{" "}
          {formatDollars(spending.max_cost_usd)} spent, judges included.
        </p>
      ) : null}
      {notes.length > 0 ? (
        <ul aria-label="What to know of these numbers" className="flex flex-col gap-1 text-[13px] text-ink-2">
          {notes.map((note) => (
            <li key={note} className="[overflow-wrap:anywhere]">
              {note}
            </li>
          ))}
        </ul>
      ) : null}
      <section aria-label="Input by input" className="flex flex-col gap-1">
        <h3 className="text-[13px] font-medium">Input by input</h3>
        {cases.map(({ case: id, name }, at) => {
          const cells = variants.flatMap((variant, k) => {
            const cell = variant.cells[at];
            return cell ? [{ key: k, variant: variant.name, cell }] : [];
          });
          const passed = cells.filter(({ cell }) => cell.status === "passed").length;
          return (
            <Disclosure
              key={id}
              title={name}
              aside={`${passed} of ${countOf(cells.length, "variant")} passed`}
            >
              <div className="flex flex-col gap-3">
                <NumberTable
                  label={name}
                  rows={cells.map(({ key, variant, cell }) => ({ key, name: variant, ...cellOf(cell) }))}
                />
              </div>
            </Disclosure>
          );
        })}
      </section>
    </div>
  );
}

interface Numbers {
  status: TestStatus;
  simulated: boolean;
  /** Why, where that has to be said. */
  sentence: string | null;
  passed: string;
  judged: string;
  cost: string;
  tokens: string;
  time: string;
}

const NOTHING = "–";
const score = (value: number | null) => (value === null ? NOTHING : value.toFixed(2));
const money = (value: number | null) => (value === null ? "Unknown" : formatDollars(value));
const time = (value: number | null, simulated: boolean) =>
  value === null ? (simulated ? "Simulated" : NOTHING) : formatDuration(value);

function totalOf(variant: VariantReport, cases: number): Numbers {
  const { passed, failed, not_run, judged, cost_usd, tokens, time_ms, simulated, cells } = variant;
  const ran = cells.some(({ runs }) => runs > 0);
  return {
    status: failed > 0 ? "failed" : passed === cases ? "passed" : "not_run",
    simulated,
    sentence: not_run > 0 ? `${not_run} could not be decided or were not run.` : null,
    passed: `${passed} of ${cases}`,
    judged: score(judged),
    cost: ran ? money(cost_usd) : NOTHING,
    tokens: ran ? formatTokens(tokens) : NOTHING,
    time: time(time_ms, simulated),
  };
}

function cellOf(cell: ComparisonCell): Numbers {
  const { status, sentence, runs, passed, judged, cost_usd, tokens, time_ms, simulated } = cell;
  return {
    status,
    simulated,
    sentence: status === "passed" ? null : sentence,
    passed: runs === 0 ? NOTHING : runs === 1 ? (passed === 1 ? "Yes" : "No") : `${passed} of ${runs} times`,
    judged: score(judged),
    cost: runs === 0 ? NOTHING : money(cost_usd),
    tokens: runs === 0 ? NOTHING : formatTokens(tokens),
    time: time(time_ms, simulated),
  };
}

const COLUMNS = [
  ["passed", "Passed"],
  ["judged", "Judge"],
  ["cost", "Cost"],
  ["tokens", "Tokens"],
  ["time", "Time"],
] as const satisfies readonly [keyof Numbers, string][];

/** A row for each variant; on a phone a block, with the names of the columns beside the numbers. */
function NumberTable({
  label,
  rows,
}: {
  label: string;
  rows: readonly (Numbers & { key: number; name: string })[];
}) {
  return (
    <div className="overflow-hidden rounded-xl border border-line">
      <table aria-label={label} className="w-full text-left text-[13px] max-md:block">
        <thead className="border-b border-line text-xs text-ink-3 max-md:sr-only">
          <tr>
            <th scope="col" className="px-3.5 py-2 font-medium">
              Variant
            </th>
            {COLUMNS.map(([key, word]) => (
              <th key={key} scope="col" className="px-3 py-2 text-right font-medium">
                {word}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-md:block">
          {rows.map((row) => (
            <tr key={row.key} className="max-md:block max-md:px-3.5 max-md:py-3">
              <th scope="row" className="min-w-0 px-3.5 py-2.5 font-normal max-md:block max-md:p-0">
                <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <TestMark status={row.status} />
                  <span className="font-medium [overflow-wrap:anywhere]">{row.name}</span>
                  {row.simulated ? <SimulatedBadge /> : null}
                </span>
                {row.sentence ? (
                  <span className="mt-1 block max-w-prose text-ink-2 [overflow-wrap:anywhere]">
                    {row.sentence}
                  </span>
                ) : null}
              </th>
              {COLUMNS.map(([key, word]) => (
                <td
                  key={key}
                  className="whitespace-nowrap px-3 py-2.5 text-right align-top tabular-nums max-md:flex max-md:justify-between max-md:px-0 max-md:py-0.5"
                >
                  <span aria-hidden className="text-ink-3 md:hidden">
                    {word}
                  </span>
                  <span>{row[key]}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
