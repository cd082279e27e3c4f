import type { RoleDefinition } from "@/server/domain/agent/role";
import type { RunState } from "@/server/domain/run";
import { type RunCommand, tooLate } from "@/server/domain/run/commands/command";
import type { Host } from "@/server/runner/host";
import type { Answering, Terminal } from "./answering";
import { printable } from "./printable";
import { commandOf, HELP, PROMPT, readSaid } from "./said";

/** With which the person at the terminal lets the run go on; everything else leaves it paused. */
const GOES_ON: ReadonlySet<RunCommand["kind"]> = new Set(["resume", "step"]);

/**
 * Goes on with a run that is paused, as a person says at the terminal. With `yes` it goes on at once. Where nobody can be
 * asked it is cancelled: nobody would ever let it go on. `known`: the run as it stands, and the roles that may join a crew.
 */
export function newStepping(
  host: Pick<Host, "command" | "cancel">,
  runId: string,
  terminal: Terminal,
  known: { state: () => RunState; roles: readonly RoleDefinition[] },
) {
  const say = (text: string) => terminal.say(printable(`${text}\n`));
  const tell = async (command: RunCommand): Promise<boolean> => {
    const late = tooLate((await host.command(runId, command, "terminal")).heard);
    if (late !== null) say(late);
    return late === null;
  };
  return async (how: Answering): Promise<void> => {
    if (how === "yes") return void (await tell({ kind: "resume" }));
    const cancel = (reason: string) => void host.cancel(runId, { by: "user", reason });
    if (how === "no") {
      const reason = "It was paused, and nobody can be asked here; --yes goes on.";
      say(reason);
      return cancel(reason);
    }
    for (;;) {
      const said = readSaid(await terminal.ask(PROMPT));
      if (said.kind === "cancel") return cancel("Cancelled in the terminal");
      if (said.kind === "unclear" || said.kind === "help") {
        say(said.kind === "help" ? HELP : said.message);
        continue;
      }
      const command = commandOf(said, known.state(), known.roles);
      if (typeof command === "string") say(command);
      else if ((await tell(command)) && GOES_ON.has(command.kind)) return;
    }
  };
}
