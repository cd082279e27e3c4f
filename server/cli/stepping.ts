import { Json, StateKey } from "@/server/domain/base/values";
import { type RunCommand, tooLate } from "@/server/domain/run/command";
import type { Host } from "@/server/runner/host";
import type { Answering, Terminal } from "./answering";
import { printable } from "./printable";

/** What a person says at the terminal to a run that is paused. */
export type Said =
  | Extract<RunCommand, { kind: "resume" | "step" | "edit_state" }>
  | { kind: "cancel" }
  | { kind: "unclear"; message: string };

const HELP =
  "Enter = go on, s = one node, t = one turn of an agent, set KEY=VALUE, remove KEY, q = cancel the run: ";

/**
 * Goes on with a run that is paused, as a person says at the terminal. With `yes` it goes on at once. Where nobody can be
 * asked it is cancelled: nobody would ever let it go on.
 */
export function newStepping(host: Pick<Host, "command" | "cancel">, runId: string, terminal: Terminal) {
  const tell = async (command: RunCommand): Promise<boolean> => {
    const late = tooLate(await host.command(runId, command, "terminal"));
    if (late !== null) terminal.say(printable(`${late}\n`));
    return late === null;
  };
  return async (how: Answering): Promise<void> => {
    if (how === "yes") return void (await tell({ kind: "resume" }));
    const cancel = (reason: string) => void host.cancel(runId, { by: "user", reason });
    if (how === "no") {
      const reason = "It was paused, and nobody can be asked here; --yes goes on.";
      terminal.say(`${reason}\n`);
      return cancel(reason);
    }
    for (;;) {
      const said = readSaid(await terminal.ask(HELP));
      if (said.kind === "unclear") terminal.say(printable(`${said.message}\n`));
      else if (said.kind === "cancel") return cancel("Cancelled in the terminal");
      // A change of the state leaves it paused.
      else if ((await tell(said)) && said.kind !== "edit_state") return;
    }
  };
}

/** Reads a line: a value that is no JSON is a text. */
export function readSaid(line: string): Said {
  const [word = "", rest = ""] = line.trim().split(/\s+(.*)/s, 2);
  switch (word.toLowerCase()) {
    case "":
    case "c":
      return { kind: "resume" };
    case "s":
      return { kind: "step", granularity: "node" };
    case "t":
      return { kind: "step", granularity: "turn" };
    case "q":
      return { kind: "cancel" };
    case "remove":
      return StateKey.safeParse(rest).success
        ? { kind: "edit_state", set: {}, remove: [rest] }
        : { kind: "unclear", message: "Write which key is to go: remove KEY." };
    case "set":
      return readSet(rest);
    default:
      return { kind: "unclear", message: `“${word}” is none of them.` };
  }
}

function readSet(rest: string): Said {
  const at = rest.indexOf("=");
  const key = rest.slice(0, Math.max(0, at)).trim();
  if (at < 0 || !StateKey.safeParse(key).success)
    return { kind: "unclear", message: "Write which key is to have which value: set KEY=VALUE." };
  return { kind: "edit_state", set: { [key]: valueOf(rest.slice(at + 1).trim()) }, remove: [] };
}

function valueOf(text: string): Json {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return text;
  }
}
