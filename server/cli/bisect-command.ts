import type { JsonObject } from "@/server/domain/base/values";
import { BisectReport } from "@/server/domain/run/bisect/report";
import { RuleExpectation } from "@/server/domain/scenario/expectation";
import { parseOptions, UsageError } from "./arguments";
import { callOf } from "./called";
import { valueOf } from "./said";
import { newAsk, type ServerTerminal } from "./server-ask";

const BISECT_USAGE = `Finds the first step that makes the difference between a bad run of a server and a good one, from their records.

  ${callOf("run")} bisect BAD --good GOOD --when "state.status == 'approved'"

What holds in the good run and not in the bad one, one of these:
  --when CONDITION  a condition (CEL) over state, input, nodes and output at the end
  --status STATUS   how it ends: COMPLETED, ERROR, INCOMPLETE or CANCELLED
  --visits NODE     it comes to that node; may be repeated
  --never NODE      it does not; may be repeated
  --expect JSON     an expectation as in a test of the workflow, such as '{"kind": "text", "key": "answer", "contains": "yes"}'

  --url URL         where the server is; TROUPE_URL, or http://127.0.0.1:3000
  --json            prints the whole report as JSON

No model and no tool is called. The server's API token is read from TROUPE_API_TOKEN.
Exit code: 0 found, 1 not found or undecided, 2 refused or unusable arguments.
`;

const OPTIONS = {
  good: { type: "string" },
  when: { type: "string" },
  status: { type: "string" },
  visits: { type: "string", multiple: true },
  never: { type: "string", multiple: true },
  expect: { type: "string" },
  url: { type: "string" },
  json: { type: "boolean" },
} as const;

interface BisectCommand {
  bad: string;
  good: string;
  expect: RuleExpectation;
  url: string | undefined;
  json: boolean;
}

/** What a command line asks for; null asks for help. Throws UsageError. */
export function readBisectCommand([, ...rest]: readonly string[]): BisectCommand | null {
  const { values, positionals } = parseOptions(rest, OPTIONS);
  if (values.help) return null;
  const [bad, ...more] = positionals;
  if (bad === undefined) throw new UsageError("Say which run was bad: bisect BAD --good GOOD.");
  if (more.length > 0)
    throw new UsageError(`"${more[0]}" is one too many; the good run stands behind --good.`);
  if (values.good === undefined) throw new UsageError("Say which run was good: --good GOOD.");
  const { when, status, visits, never, expect, url, json = false } = values;
  const given = [
    ...(when === undefined ? [] : [{ kind: "state", when }]),
    ...(status === undefined ? [] : [{ kind: "status", is: status.toUpperCase() }]),
    ...(visits ? [{ kind: "path", nodes: visits, mode: "visited" }] : []),
    ...(never ? [{ kind: "path", nodes: never, mode: "never" }] : []),
    ...(expect === undefined ? [] : [valueOf(expect)]),
  ];
  if (given.length !== 1)
    throw new UsageError(
      "Say one thing that holds in the good run: --when, --status, --visits, --never or --expect.",
    );
  const read = RuleExpectation.safeParse(given[0]);
  if (!read.success)
    throw new UsageError(`This is nothing that could be looked for: ${read.error.issues[0]?.message ?? ""}`);
  return { bad, good: values.good, expect: read.data, url, json };
}

/** Carries it out; answers the exit code. */
export async function bisectCommand(argv: readonly string[], terminal: ServerTerminal): Promise<number> {
  const command = readBisectCommand(argv);
  if (!command) {
    terminal.print(BISECT_USAGE);
    return 0;
  }
  const { bad, good, expect, json } = command;
  const ask = newAsk(command, terminal);
  const body: JsonObject = { good, expect: expect };
  const response = await ask("POST", `/runs/${encodeURIComponent(bad)}/bisect`, body);
  if ("error" in response) {
    terminal.log(response.error);
    return 2;
  }
  const report = BisectReport.parse(response.answer);
  if (json) terminal.print(JSON.stringify(report, null, 2));
  else for (const line of linesOf(report)) terminal.print(line);
  return report.verdict === "found" ? 0 : 1;
}

function linesOf({ sentence, step, between = [], differences, tries }: BisectReport): string[] {
  const places = step === undefined ? between : [step];
  return [
    sentence,
    ...places.flatMap((at) => {
      const difference = differences[at];
      if (!difference) return [];
      return [
        `  ${difference.title}`,
        `    good: ${difference.good ?? "nothing"}`,
        `    bad:  ${difference.bad ?? "nothing"}`,
      ];
    }),
    `${tries.length} ${tries.length === 1 ? "replay" : "replays"} tried, ${differences.length} ${differences.length === 1 ? "difference" : "differences"}.`,
  ];
}
