import { z } from "zod";
import type { JsonObject } from "@/server/domain/base/values";
import { TeamEdit } from "@/server/domain/run/commands/team-edit";
import { parseOptions, UsageError } from "./arguments";
import { callOf } from "./called";
import { valueOf } from "./said";
import { newAsk, type ServerTerminal } from "./server-ask";
import { pairOf } from "./server-commands";

const CONTROL_USAGE = `Tells a run of a Troupe that is at work something.

  ${callOf("run")} pause RUN [--now]            nothing begins any more; --now also gives up calls of models
  ${callOf("run")} resume RUN
  ${callOf("run")} step RUN [--turn]            one node further; --turn one turn of an agent
  ${callOf("run")} skip RUN NODE [--set KEY=VALUE] [--label LABEL]
                                         gives a node its output instead of carrying it out
  ${callOf("run")} retry RUN NODE               tries a node again that failed
  ${callOf("run")} next RUN NODE TO             after that node the run goes to TO; --agent AGENT instead of TO in a crew
  ${callOf("run")} instruct RUN TEXT [--node NODE | --agent AGENT]
                                         tells agents something; without either, everybody in the run
  ${callOf("run")} signal RUN NAME [--data JSON]
  ${callOf("run")} team RUN add ROLE [--as ID]  adds a role of the library to a crew
  ${callOf("run")} team RUN change AGENT        with --role, --model, --provider, --instructions, --tools a,b
  ${callOf("run")} team RUN remove AGENT        takes a member out who is not at work

  NODE is a node's id, or one time that it came up, such as "ask#2".
  --crew NODE     which crew, where the workflow has several
  --url URL       where the server is; TROUPE_URL, or http://127.0.0.1:3000
  --json          prints the whole run as JSON

The server's API token is read from TROUPE_API_TOKEN.
Exit code: 0 told, 2 refused or unusable arguments.
`;

const OPTIONS = {
  now: { type: "boolean" },
  turn: { type: "boolean" },
  set: { type: "string", multiple: true },
  label: { type: "string" },
  node: { type: "string" },
  agent: { type: "string" },
  data: { type: "string" },
  as: { type: "string" },
  role: { type: "string" },
  model: { type: "string" },
  provider: { type: "string" },
  instructions: { type: "string" },
  tools: { type: "string" },
  crew: { type: "string" },
  url: { type: "string" },
  json: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>["values"];

/** A command: where it goes, which of the options it takes, and what is sent. */
interface ControlRequest {
  path: string;
  takes: readonly (keyof typeof OPTIONS)[];
  body(args: readonly string[], values: Values): JsonObject;
}

const nothing: ControlRequest["body"] = (args) => {
  only(args, 0);
  return {};
};

const TELLINGS = {
  pause: {
    path: "pause",
    takes: ["now"],
    body: (args, { now }) => ({ ...nothing(args, {}), ...(now ? { now } : {}) }),
  },
  resume: { path: "resume", takes: [], body: nothing },
  step: {
    path: "step",
    takes: ["turn"],
    body: (args, { turn }) => ({ ...nothing(args, {}), granularity: turn ? "turn" : "node" }),
  },
  skip: {
    path: "skip",
    takes: ["set", "label"],
    body: (args, { set = [], label }) => ({
      ...nodeOf(only(args, 1)[0]),
      output: Object.fromEntries(set.map(pairOf)),
      ...(label === undefined ? {} : { labels: [label] }),
    }),
  },
  retry: { path: "retry", takes: [], body: (args) => nodeOf(only(args, 1)[0]) },
  next: {
    path: "override",
    takes: ["agent"],
    body: (args, { agent }) => {
      const [node, to] = only(args, agent === undefined ? 2 : 1);
      return { ...nodeOf(node), ...(agent === undefined ? { to: to ?? "" } : { agent_id: agent }) };
    },
  },
  instruct: {
    path: "inject",
    takes: ["node", "agent"],
    body: (args, { node, agent }) => {
      if (args.length === 0) throw new UsageError("Say what they are to do.");
      if (node !== undefined && agent !== undefined) throw new UsageError("Say --node or --agent, not both.");
      return { target: targetOf(node, agent), text: args.join(" ") };
    },
  },
  signal: {
    path: "signals",
    takes: ["data"],
    body: (args, { data }) => ({
      name: only(args, 1)[0] ?? "",
      ...(data === undefined ? {} : { data: valueOf(data) }),
    }),
  },
  team: {
    path: "team",
    takes: ["as", "role", "model", "provider", "instructions", "tools", "crew"],
    body: (args, values) => ({
      edit: teamEdit(args, values),
      ...(values.crew === undefined ? {} : { node_id: values.crew }),
    }),
  },
} as const satisfies Record<string, ControlRequest>;

/** Whether the first word names one of these commands. */
export const isControlCommand = (word: string | undefined): word is keyof typeof TELLINGS =>
  word !== undefined && Object.hasOwn(TELLINGS, word);

/** What a command line tells a run; null asks for help. Throws UsageError. */
export function readControlCommand([word, ...rest]: readonly string[]): {
  run: string;
  path: string;
  body: JsonObject;
  url: string | undefined;
  json: boolean;
} | null {
  const { values, positionals } = parseOptions(rest, OPTIONS);
  if (values.help) return null;
  if (!isControlCommand(word)) throw new UsageError(`Say one of ${Object.keys(TELLINGS).join(", ")}.`);
  const [run, ...args] = positionals;
  if (run === undefined) throw new UsageError(`Say which run it is about: ${word} RUN.`);
  const { path, takes, body }: ControlRequest = TELLINGS[word];
  for (const name of Object.keys(values))
    if (name !== "url" && name !== "json" && !takes.some((one) => one === name))
      throw new UsageError(`--${name} is not for ${word}.`);
  return { run, path, body: body(args, values), url: values.url, json: values.json ?? false };
}

/** The words that a command takes, no more and no fewer. */
function only(args: readonly string[], count: number): readonly string[] {
  const [extra] = args.slice(count);
  if (extra !== undefined) throw new UsageError(`"${extra}" is one too many.`);
  if (args.length < count) throw new UsageError("Something is missing; --help says what.");
  return args;
}

const nodeOf = (named = ""): JsonObject =>
  named.includes("#") ? { activation_id: named } : { node_id: named };

function targetOf(node: string | undefined, agent: string | undefined): JsonObject {
  if (node !== undefined) return { node_id: node };
  return agent === undefined ? { run: true } : { agent_id: agent };
}

function teamEdit([what, who, ...more]: readonly string[], values: Values): JsonObject {
  only(more, 0);
  const { as, role, model, provider, instructions, tools } = values;
  const settings = {
    ...(model === undefined && provider === undefined
      ? {}
      : { llm_config: { ...(provider ? { provider_id: provider } : {}), ...(model ? { model } : {}) } }),
    ...(instructions === undefined ? {} : { backstory: instructions }),
    ...(tools === undefined
      ? {}
      : { tools: tools.split(",").flatMap((tool) => (tool.trim() === "" ? [] : [tool.trim()])) }),
  };
  const edit =
    what === "add"
      ? { kind: what, role_name: who, ...(as === undefined ? {} : { agent_id: as }), ...settings }
      : what === "change"
        ? {
            kind: what,
            agent_id: who,
            patch: { ...(role === undefined ? {} : { role_name: role }), ...settings },
          }
        : { kind: what, agent_id: who };
  const read = TeamEdit.safeParse(edit);
  if (!read.success)
    throw new UsageError("Say team RUN add ROLE, change AGENT or remove AGENT; --help says more.");
  return z.record(z.string(), z.json()).parse(read.data);
}

const RunStatus = z.looseObject({ status: z.string(), final_status: z.string().nullable() });

/** Tells a run something; answers the exit code. */
export async function controlCommand(argv: readonly string[], terminal: ServerTerminal): Promise<number> {
  const command = readControlCommand(argv);
  if (!command) {
    terminal.print(CONTROL_USAGE);
    return 0;
  }
  const ask = newAsk(command, terminal);
  const response = await ask(
    "POST",
    `/runs/${encodeURIComponent(command.run)}/${command.path}`,
    command.body,
  );
  if ("error" in response) {
    terminal.log(response.error);
    return 2;
  }
  const run = RunStatus.parse(response.answer);
  if (command.json) terminal.print(JSON.stringify(run, null, 2));
  else if (run.applied === false)
    terminal.log(`${command.run} has accepted it, and applies it when it continues.`);
  else terminal.log(`${command.run} is ${run.final_status ?? run.status}.`);
  return 0;
}
