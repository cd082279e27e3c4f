import type { ReactNode } from "react";

export interface ComparisonRow {
  key: string | number;
  name: ReactNode;
  /** In the order of the columns. */
  cells: readonly ReactNode[];
}

/** Figures to compare. On a phone each row is a block, with the names of the columns next to the figures. */
export function ComparisonTable({
  label,
  rowHeader,
  columns,
  rows,
}: {
  label: string;
  /** What the rows are, such as "Variant". */
  rowHeader: string;
  columns: readonly { key: string; name: ReactNode }[];
  rows: readonly ComparisonRow[];
}) {
  return (
    <div className="overflow-hidden rounded-xl border border-line">
      <table aria-label={label} className="w-full text-left text-[13px] max-md:block">
        <thead className="border-b border-line text-xs text-ink-3 max-md:sr-only">
          <tr>
            <th scope="col" className="px-3.5 py-2 font-medium">
              {rowHeader}
            </th>
            {columns.map(({ key, name }) => (
              <th key={key} scope="col" className="px-3 py-2 text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-md:block">
          {rows.map(({ key, name, cells }) => (
            <tr key={key} className="max-md:block max-md:px-3.5 max-md:py-3">
              <th scope="row" className="min-w-0 px-3.5 py-2.5 font-normal max-md:block max-md:p-0">
                {name}
              </th>
              {columns.map((column, at) => (
                <td
                  key={column.key}
                  className="whitespace-nowrap px-3 py-2.5 text-right align-top tabular-nums max-md:flex max-md:justify-between max-md:px-0 max-md:py-0.5"
                >
                  <span aria-hidden className="text-ink-3 md:hidden">
                    {column.name}
                  </span>
                  <span>{cells[at]}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
