import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { errorMessage } from "@/server/domain/base/guards";
import { type LogReport, verifyLogs } from "@/server/store/runs/verify-log";
import { callOf } from "./called";
import { printableLine } from "./output/printable";

/** `verify [FOLDER_OR_FILE] [--run ID]`: whether the logs of all runs are as they were written. Changes nothing. */
const USAGE = `Usage: ${callOf("verify")} [data folder or database file] [--run RUN_ID]`;

/** What the report says, line by line. */
export function linesOf({ runs, turns, events, unchained, errors }: LogReport): string[] {
  const count = (n: number, one: string) => `${n.toLocaleString("en-US")} ${n === 1 ? one : `${one}s`}`;
  const where = (turn: number | null, seq: number | null) =>
    [turn === null ? "" : `record ${turn}`, seq === null ? "" : `event ${seq}`].filter(Boolean).join(", ");
  return [
    ...errors.map(
      ({ run_id, turn, seq, message }) =>
        `Run ${run_id}${turn === null ? "" : `, ${where(turn, seq)}`}: ${message}`,
    ),
    `${count(runs, "run")}, ${count(turns, "record")}, ${count(events, "event")} read: ${
      errors.length === 0 ? "all unchanged." : `${count(errors.length, "error")} found.`
    }`,
    ...(unchained > 0
      ? [
          `${count(unchained, "run")} ${unchained === 1 ? "is" : "are"} from before logs had hashes: only the order of events was checked.`,
        ]
      : []),
  ];
}

/** Answers the exit code: 0 where all is well, 1 where a log has a fault, 2 where there is nothing to read. */
export function verify(
  args: readonly string[],
  calledFrom: string,
  print: (line: string) => void,
  dataDir = "data",
): number {
  let asked: { values: { run?: string }; positionals: string[] };
  try {
    asked = parseArgs({ args: [...args], options: { run: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    print(`${errorMessage(error)}\n${USAGE}`);
    return 2;
  }
  const given = path.resolve(calledFrom, asked.positionals[0] ?? dataDir);
  const file = existsSync(given) && statSync(given).isDirectory() ? path.join(given, "troupe.db") : given;
  if (!existsSync(file)) {
    print(`No database at ${printableLine(file)}.\n${USAGE}`);
    return 2;
  }
  const client = new Database(file, { readonly: true });
  try {
    const known = client.prepare("select 1 from pragma_table_info('run_turns') where name = 'chain'").get();
    if (!known) {
      print(
        "These logs are from before logs had hashes. Start Troupe once with this data folder to update it.",
      );
      return 2;
    }
    const { run } = asked.values;
    if (run !== undefined && !client.prepare("select 1 from runs where id = ?").get(run)) {
      print(`No run ${printableLine(run)} in this database.`);
      return 2;
    }
    const report = verifyLogs({ $client: client }, run);
    for (const line of linesOf(report)) print(printableLine(line));
    return report.errors.length === 0 ? 0 : 1;
  } finally {
    client.close();
  }
}
