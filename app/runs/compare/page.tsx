import type { Metadata } from "next";
import { CompareRuns } from "@/components/scenario/comparison-runs";

export const metadata: Metadata = { title: "Compare runs" };

/** Two runs beside each other: /runs/compare?a=…&b=… */
export default async function ComparePage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const { a, b } = await searchParams;
  const pair = typeof a === "string" && typeof b === "string" ? { a, b } : null;
  return <CompareRuns key={pair ? `${pair.a} ${pair.b}` : ""} pair={pair} />;
}
