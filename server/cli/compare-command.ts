import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { openDb } from "@/db/open";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { errorMessage } from "@/server/domain/base/guards";
import { formatDollars } from "@/server/domain/model/cost";
import { ComparisonFields, type ComparisonReport } from "@/server/domain/scenario/comparison";
import { ArchiveError } from "@/server/interop/import/archive";
import { nothingImported } from "@/server/interop/import/format";
import { readSent } from "@/server/interop/import/off-thread";
import { operations } from "@/server/operations";
import { perform } from "@/server/operations/operation";
import { Problem } from "@/server/operations/problem";
import { bringTests } from "@/server/operations/test-files";
import { newServices } from "@/server/services";
import { parseOptions, UsageError } from "./arguments";
import { calledFrom, callOf } from "./called";
import { findingLine } from "./import-command";
import { printable, printableJson, printableLine } from "./printable";
import { PathError, readPath } from "./read-path";
import type { Stdio } from "./stdio";

const COMPARE_USAGE = `Puts variants of a workflow side by side over the same inputs: quality, cost, tokens, time.

  ${callOf("run")} compare FILE VARIANTS [options]

  --max-cost USD  asks real models, which may cost so much all together; without it, recordings, pins and the offline
                  demo model answer, and what they cannot answer is said
  --json          prints the comparison as one JSON object

VARIANTS is a JSON file: {"variants": [{"name": "As it is"}, {"name": "Small", "models": {"default": "gpt-4o-mini"}},
{"name": "Alone", "twin": {"node_id": "crew"}}], "inputs": [{"input": {...}}], "expect": [...], "repeats": 3}
Without "inputs" those of the tests in FILE are taken. Exit code: 0 compared, 2 it could not be.
`;

const UNUSABLE = 2;

const Asked = z.strictObject(ComparisonFields);

/** Why nothing could be compared. */
class Unusable extends Error {
  override name = "Unusable";
}

/** Compares variants of the workflow of a file; answers the exit code. */
export async function compareCommand(argv: readonly string[], stdio: Stdio): Promise<number> {
  try {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    if (values.help) {
      stdio.out(COMPARE_USAGE);
      return 0;
    }
    const [file, variants, ...more] = positionals;
    if (file === undefined || variants === undefined || more.length > 0)
      throw new UsageError("Say which workflow file, and which file of variants.");
    const report = await compared(file, readVariants(variants), costOf(values["max-cost"]));
    stdio.out(values.json ? `${printableJson(report)}\n` : linesOf(report));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) stdio.tell(`${printable(error.message)}\n\n${COMPARE_USAGE}`);
    else if (
      error instanceof Unusable ||
      error instanceof Problem ||
      error instanceof PathError ||
      error instanceof ArchiveError
    )
      stdio.tell(`${printable(error.message)}\n`);
    else throw error;
    return UNUSABLE;
  }
}

const OPTIONS = {
  "max-cost": { type: "string" },
  json: { type: "boolean" },
} as const;

function costOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const usd = Number(given);
  if (!(usd > 0)) throw new UsageError(`--max-cost takes an amount in US dollars, not "${given}".`);
  return usd;
}

function readVariants(given: string): z.output<typeof Asked> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path.resolve(calledFrom(), given), "utf8"));
  } catch (error) {
    throw new Unusable(`${given} cannot be read: ${errorMessage(error)}`);
  }
  const read = Asked.safeParse(json);
  if (read.success) return read.data;
  const [fault] = read.error.issues;
  throw new Unusable(`${given} does not fit: ${fault?.path.join(".") ?? ""}: ${fault?.message ?? ""}`);
}

/** By the operation that the app and programs have, on a server that lives as long as this. */
async function compared(
  file: string,
  asked: z.output<typeof Asked>,
  max_cost_usd: number | undefined,
): Promise<ComparisonReport> {
  const { imported, findings } = await readSent(readPath(file));
  const { graph, name, roles, tests } = { ...nothingImported(), ...imported };
  if (!graph)
    throw new Unusable(
      [`${file} is not a workflow that Troupe can read:`, ...findings.map(findingLine)].join("\n"),
    );
  const troupe = newServices(openDb(":memory:"), { dataDir: null });
  troupe.roles.seed(builtinRoles);
  await troupe.toolSources.start();
  try {
    for (const role of roles) troupe.roles.put(role);
    const workflow_id = troupe.workflows.create({ name: name || graph.graph_id, graph });
    bringTests(troupe, workflow_id, tests);
    return await perform(
      operations.tests.compare,
      troupe,
      {
        workflow_id,
        ...asked,
        ...(max_cost_usd === undefined ? {} : { real: true as const, max_cost_usd }),
      },
      { principal: { kind: "session", id: "cli" }, by: "user", note: () => undefined },
    );
  } finally {
    await troupe.toolSources.stop();
  }
}

const dollars = (value: number | null) => (value === null ? "unknown" : formatDollars(value));

/** A table for a person at the terminal, and what to know of it. */
function linesOf({ variants, cases, notes, spending }: ComparisonReport): string {
  const rows = [
    ["Variant", "passed", "judge", "cost", "tokens", "time"],
    ...variants.map(({ name, passed, judged, cost_usd, tokens, time_ms, simulated, cells }) => [
      name,
      `${passed} of ${cases.length}`,
      judged === null ? "-" : judged.toFixed(2),
      cells.some(({ runs }) => runs > 0) ? dollars(cost_usd) : "-",
      String(tokens),
      simulated ? "simulated" : time_ms === null ? "-" : `${(time_ms / 1000).toFixed(1)} s`,
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0)))
      .join("  "),
  );
  const spent = spending
    ? [`${dollars(spending.spent_usd)} of ${formatDollars(spending.max_cost_usd)} spent, judges included.`]
    : [];
  const after = [...spent, ...notes];
  return `${[...table, ...(after.length > 0 ? ["", ...after] : [])].map(printableLine).join("\n")}\n`;
}
