"use client";

import { type ComparisonRow, ComparisonTable } from "@/components/display/comparison-table";
import { countOf, formatDuration, formatTokens } from "@/components/display/format";
import { TestMark } from "@/components/display/test-mark";
import { Disclosure } from "@/components/ui/disclosure";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { formatDollars } from "@/server/domain/model/cost";
import type { ComparisonCell, ComparisonReport, VariantReport } from "@/server/domain/scenario/comparison";
import type { TestStatus } from "@/server/domain/scenario/report";

/** The report of a comparison: totals, then each input. */
export function ComparisonView({ report }: { report: ComparisonReport }) {
  const { variants, cases, notes, spending } = report;
  return (
    <div className="flex flex-col gap-5">
      <ComparisonTable
        label="Total"
        rowHeader="Variant"
        columns={COLUMNS}
        rows={variants.map((variant, at) => totalOf(at, variant, cases.length))}
      />
      {spending ? (
        <p className="text-[13px]">
          {spending.spent_usd === null
            ? `Amount spent is unknown. The limit was ${formatDollars(spending.max_cost_usd)}, including judges.`
            : `Spent ${formatDollars(spending.spent_usd)} of ${formatDollars(spending.max_cost_usd)}, including judges.`}
        </p>
      ) : null}
      {notes.length > 0 ? (
        <ul aria-label="About these numbers" className="flex flex-col gap-1 text-[13px] text-ink-2">
          {notes.map((note) => (
            <li key={note} className="[overflow-wrap:anywhere]">
              {note}
            </li>
          ))}
        </ul>
      ) : null}
      <section aria-label="By input" className="flex flex-col gap-1">
        <h3 className="text-[13px] font-medium">By input</h3>
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
                <ComparisonTable
                  label={name}
                  rowHeader="Variant"
                  columns={COLUMNS}
                  rows={cells.map(({ key, variant, cell }) => cellOf(key, variant, cell))}
                />
              </div>
            </Disclosure>
          );
        })}
      </section>
    </div>
  );
}

const NOTHING = "–";
const COLUMNS = ["Passed", "Judge", "Cost", "Tokens", "Time"].map((name) => ({ key: name, name }));

/** A variant with its figures, in all or for one input. `sentence`: why it did not pass. */
function rowOf(
  key: number,
  name: string,
  figures: Pick<VariantReport, "judged" | "cost_usd" | "tokens" | "time_ms" | "simulated">,
  outcome: { status: TestStatus; sentence: string | null; passed: string; ran: boolean },
): ComparisonRow {
  const { judged, cost_usd, tokens, time_ms, simulated } = figures;
  const { status, sentence, passed, ran } = outcome;
  return {
    key,
    name: (
      <>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <TestMark status={status} />
          <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
          {simulated ? <SimulatedBadge /> : null}
        </span>
        {sentence ? (
          <span className="mt-1 block max-w-prose text-ink-2 [overflow-wrap:anywhere]">{sentence}</span>
        ) : null}
      </>
    ),
    cells: [
      passed,
      judged === null ? NOTHING : judged.toFixed(2),
      !ran ? NOTHING : cost_usd === null ? "Unknown" : formatDollars(cost_usd),
      ran ? formatTokens(tokens) : NOTHING,
      time_ms === null ? (simulated ? "Simulated" : NOTHING) : formatDuration(time_ms),
    ],
  };
}

function totalOf(key: number, variant: VariantReport, cases: number): ComparisonRow {
  const { name, passed, failed, not_run, cells } = variant;
  return rowOf(key, name, variant, {
    status: failed > 0 ? "failed" : passed === cases ? "passed" : "not_run",
    sentence: not_run > 0 ? `${not_run} inconclusive or not run.` : null,
    passed: `${passed} of ${cases}`,
    ran: cells.some(({ runs }) => runs > 0),
  });
}

function cellOf(key: number, name: string, cell: ComparisonCell): ComparisonRow {
  const { status, sentence, runs, passed } = cell;
  return rowOf(key, name, cell, {
    status,
    sentence: status === "passed" ? null : sentence,
    passed: runs === 0 ? NOTHING : runs === 1 ? (passed === 1 ? "Yes" : "No") : `${passed} of ${runs} times`,
    ran: runs > 0,
  });
}
