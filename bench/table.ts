/** One measured figure beside what it has to be. */
export interface Figure {
  name: string;
  measured: number;
  unit: string;
  /** "at least" for rates, "at most" for times and sizes; absent: for scale only. */
  target?: { atLeast: number } | { atMost: number };
  note?: string;
}

export function meets({ measured, target }: Figure): boolean | null {
  if (!target) return null;
  return "atLeast" in target ? measured >= target.atLeast : measured <= target.atMost;
}

/** Figures as a table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, measured, unit, target, note } = figure;
    const fits = meets(figure);
    return [
      name,
      `${numberText(measured)} ${unit}`.trim(),
      target
        ? "atLeast" in target
          ? `≥ ${numberText(target.atLeast)}`
          : `≤ ${numberText(target.atMost)}`
        : "",
      fits === null ? "" : fits ? "yes" : "NO",
      note ?? "",
    ];
  });
  const all = [["What", "Measured", "Target", "Met", ""], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
  return [line(all[0]!), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

const numberText = (n: number) =>
  n >= 100 ? Math.round(n).toLocaleString("en-US") : n >= 10 ? n.toFixed(1) : n.toFixed(2);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** The median of several measurements, after one that nobody counts. */
export async function medianOf(times: number, measure: () => number | Promise<number>): Promise<number> {
  await measure();
  const values: number[] = [];
  for (let at = 0; at < times; at++) values.push(await measure());
  return median(values);
}
