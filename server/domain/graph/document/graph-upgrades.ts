import { type Findings, join, type Raw } from "@/server/domain/base/lenient-reader";
import { SCHEMA_VERSION } from "../graph";

/** Steps that bring a graph from the version of their place to the next; version 0 is the reference documents'. */
const upgrades: readonly ((graph: Raw, findings: Findings) => Raw)[] = [
  // 0 -> 1: names of node types; everything else of version 0 is read unchanged.
  (graph) => ({ ...graph, schema_version: 1 }),
];

/** Brings the graph of a file to the present version; null, with an error, where only a newer program can read it. */
export function upgradeGraph(graph: Raw, at: string, findings: Findings): Raw | null {
  const version = graph.schema_version ?? 0;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 0 || version > SCHEMA_VERSION) {
    findings.error(
      join(at, "schema_version"),
      `This workflow uses format ${JSON.stringify(version)}, which requires a newer version of Troupe. Update Troupe, then import it again.`,
    );
    return null;
  }
  return upgrades.slice(version).reduce((current, step) => step(current, findings), graph);
}
