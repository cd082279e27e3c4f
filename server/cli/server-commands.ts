import { z } from "zod";
import { FINAL_STATUS_LABELS, FinalStatus, RunError } from "@/server/domain/agent/outcome";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { differenceLines, missOf } from "@/server/domain/run/request-difference";
import { parseOptions, UsageError } from "./arguments";
import { callOf } from "./called";
import { valueOf } from "./said";
import { type Ask, newAsk, type ServerTerminal } from "./server-ask";

const SERVER_USAGE = `Makes a run of a Troupe that is at work from another of its runs, and waits for its end.

  ${callOf("run")} fork RUN [--at EVENT|NODE[:TIME]] [--set KEY=VALUE] [--latest]
  ${callOf("run")} replay RUN [--lenient]

  --at EVENT        goes on after the event of that number
  --at NODE[:TIME]  goes on just before the node began, the last time or the how-manieth; absent: from the beginning
  --set KEY=VALUE   a value of the state from there on, as JSON or as text; may be repeated
  --latest          goes on with the workflow's drawing as it is now
  --lenient         asks a person before a call that was not recorded; otherwise the replay ends there
  --url URL         where the server is; TROUPE_URL, or http://127.0.0.1:3000
  --json            prints the whole run as JSON

The server's API token is read from TROUPE_API_TOKEN.
Exit code: 0 completed, 1 error, 2 refused or unusable arguments, 3 stopped at a limit, 4 waits for a person, 130 cancelled.
`;

interface ServerCommand {
  run: string;
  path: "fork" | "replay";
  body: JsonObject;
  url: string | undefined;
  json: boolean;
}

const EXIT: Record<FinalStatus, number> = { COMPLETED: 0, ERROR: 1, INCOMPLETE: 3, CANCELLED: 130 };
const POLL_MS = 300;
const REJECTED = 2;
const ASKS = 4;

const StringList = z.array(z.string()).default([]);
const Made = z.object({ run_id: z.string(), repeats: StringList, not_repeated: StringList });
const Run = z.looseObject({
  status: z.string(),
  final_status: FinalStatus.nullable(),
  waits_for: z.string().nullish(),
  cost_usd: z.number().nullable(),
  error: RunError.nullish(),
  output: z.record(z.string(), Json).nullish(),
});

/** Whether the first word names one of these commands. */
export const isServerCommand = (word: string | undefined): word is "fork" | "replay" =>
  word === "fork" || word === "replay";

/** Reads the command line; null asks for help. Throws UsageError. */
export function readServerCommand([path, ...rest]: readonly string[]): ServerCommand | null {
  const { values, positionals } = parseOptions(rest, OPTIONS);
  if (values.help) return null;
  if (!isServerCommand(path)) throw new UsageError("Say fork or replay.");
  const [run, ...more] = positionals;
  if (run === undefined) throw new UsageError(`Say which run to ${path}.`);
  if (more.length > 0) throw new UsageError(`Only one run at a time; "${more[0]}" is one too many.`);
  const { at, set = [], latest, lenient } = values;
  const isFork = path === "fork";
  if (isFork && lenient) throw new UsageError("--lenient is for a replay.");
  if (!isFork && (at !== undefined || set.length > 0 || latest))
    throw new UsageError("--at, --set and --latest are for a fork.");
  const body: JsonObject = isFork
    ? {
        ...(at === undefined ? {} : { at: momentOf(at) }),
        ...(set.length > 0 ? { state: { set: Object.fromEntries(set.map(pairOf)) } } : {}),
        ...(latest ? { graph: "latest" } : {}),
      }
    : { mode: lenient ? "lenient" : "strict" };
  return { run, path, body, url: values.url, json: values.json ?? false };
}

const OPTIONS = {
  at: { type: "string" },
  set: { type: "string", multiple: true },
  latest: { type: "boolean" },
  lenient: { type: "boolean" },
  url: { type: "string" },
  json: { type: "boolean" },
} as const;

function momentOf(at: string): JsonObject {
  if (/^\d+$/.test(at)) return { seq: Number(at) };
  const named = /^(.+):(\d+)$/.exec(at);
  return named ? { node_id: named[1] ?? "", occurrence: Number(named[2]) } : { node_id: at };
}

/** What `--set` gives, as KEY=VALUE. Throws UsageError. */
export function pairOf(given: string): [string, Json] {
  const cut = given.indexOf("=");
  if (cut < 1) throw new UsageError(`--set ${given}: write it as KEY=VALUE.`);
  return [given.slice(0, cut), valueOf(given.slice(cut + 1))];
}

/** Carries a command out; answers the exit code. */
export async function serverCommand(argv: readonly string[], terminal: ServerTerminal): Promise<number> {
  const command = readServerCommand(argv);
  if (!command) {
    terminal.print(SERVER_USAGE);
    return 0;
  }
  const ask = newAsk(command, terminal);
  const made = await ask("POST", `/runs/${encodeURIComponent(command.run)}/${command.path}`, command.body);
  if ("error" in made) {
    terminal.log(made.error);
    return REJECTED;
  }
  const { run_id, repeats, not_repeated } = Made.parse(made.answer);
  terminal.log(`${command.path === "fork" ? "Fork" : "Replay"} of ${command.run}: ${run_id}`);
  if (repeats.length > 0) terminal.log(`It repeats what people did: they ${repeats.join(", ")}.`);
  if (not_repeated.length > 0) terminal.log(`Not repeated: ${not_repeated.join("; ")}.`);
  return follow(run_id, command, ask, terminal);
}

async function follow(
  run_id: string,
  { json }: ServerCommand,
  ask: Ask,
  { print, log, wait }: ServerTerminal,
): Promise<number> {
  for (let stood = 0; ; ) {
    const found = await ask("GET", `/runs/${run_id}`);
    if ("error" in found) {
      log(found.error);
      return REJECTED;
    }
    const run = Run.parse(found.answer);
    const stands = run.status === "paused" || run.status === "held" || run.waits_for === "person";
    // A replay gives itself the answers of people: it stands only if it still does a moment later.
    stood = stands ? stood + 1 : 0;
    if (run.status === "finished" || stood > 1) {
      if (json) print(JSON.stringify(run, null, 2));
      else if (run.final_status) print(JSON.stringify(run.output ?? {}, null, 2));
      log(
        run.final_status
          ? FINAL_STATUS_LABELS[run.final_status]
          : `It is ${run.status}, and goes on once a person sees to it in the app.`,
      );
      if (run.error) log(run.error.message);
      for (const line of linesOf(run.error)) log(`  ${line}`);
      return run.final_status ? EXIT[run.final_status] : ASKS;
    }
    await wait(POLL_MS);
  }
}

function linesOf(error: z.infer<typeof RunError> | null | undefined): string[] {
  const miss = error ? missOf(error) : null;
  return miss ? differenceLines(miss) : [];
}
