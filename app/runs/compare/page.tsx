import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { CompareRuns } from "@/components/scenario/compare-runs";

export const metadata: Metadata = { title: "Two runs compared" };

/** Two runs beside each other: /runs/compare?a=…&b=… */
export default async function ComparePage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const { a, b } = await searchParams;
  if (typeof a !== "string" || typeof b !== "string") notFound();
  return <CompareRuns key={`${a} ${b}`} a={a} b={b} />;
}
