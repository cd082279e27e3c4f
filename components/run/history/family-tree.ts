import type { RunSummary } from "./run-row";

/** A run of a lineage, with how many steps it is from the first one. */
interface FamilyRow {
  run: RunSummary;
  depth: number;
}

/** The runs of a lineage as a tree, each right before those that come from it; whose original is gone stands at the root. */
export function familyTree(family: readonly RunSummary[]): FamilyRow[] {
  const ids = new Set(family.map(({ id }) => id));
  const parentOf = ({ origin }: RunSummary) => (origin && ids.has(origin.run_id) ? origin.run_id : null);
  const rows: FamilyRow[] = [];
  const add = (parent: string | null, depth: number): void => {
    for (const run of family) {
      if (parentOf(run) !== parent) continue;
      rows.push({ run, depth });
      add(run.id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}
