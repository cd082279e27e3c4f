"use client";

import { GitCompare } from "lucide-react";
import { CompareScreen } from "@/components/run/compare/compare-screen";
import { ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Bisect } from "./bisect";

/** Two runs beside each other, and which step made the difference; null: the address does not name two. */
export const CompareRuns = ({ pair }: { pair: { a: string; b: string } | null }) =>
  pair ? (
    <CompareScreen {...pair} find={(found) => <Bisect {...pair} {...found} />} />
  ) : (
    <EmptyState
      isPage
      icon={<GitCompare />}
      title="Choose two runs to compare"
      className="h-full justify-center"
      actions={
        <ButtonLink href="/runs" variant="primary">
          All runs
        </ButtonLink>
      }
    >
      Tick two runs in the list; then they can be compared.
    </EmptyState>
  );
