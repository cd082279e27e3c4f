"use client";

import { CompareScreen } from "@/components/run/compare/compare-screen";
import { Bisect } from "./bisect";

/** Two runs beside each other, and which step made the difference. */
export const CompareRuns = ({ a, b }: { a: string; b: string }) => (
  <CompareScreen a={a} b={b} find={(found) => <Bisect a={a} b={b} {...found} />} />
);
