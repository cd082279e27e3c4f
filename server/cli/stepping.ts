import { issueTexts } from "@/server/domain/base/issues/issue-text";
import { perform } from "@/server/operations/operation";
import { rejectionOf } from "@/server/operations/rejections";
import { controlOperations } from "@/server/operations/runs/control";
import { teamOperations } from "@/server/operations/runs/team";
import type { Services } from "@/server/operations/services";
import type { Answering, Terminal } from "./answering";
import { UsageError } from "./arguments";
import { commandsOf, lineForm, readLine } from "./command-forms";
import { printable } from "./output/printable";

const COMMANDS = commandsOf({ ...controlOperations, ...teamOperations });
const PROMPT = "Enter = resume, s = next node, t = next turn, q = cancel the run, ? = more: ";
const HELP = COMMANDS.map(
  (command) => `  ${lineForm(command).padEnd(24)} ${command.form.summary ?? command.operation.summary}`,
).join("\n");

/** What lets the run go on; all other commands leave it paused. */
const CONTINUES: ReadonlySet<unknown> = new Set([controlOperations.resume, controlOperations.step]);

/**
 * Asks a person at the terminal how a paused run goes on. With `yes` it goes on at once. Where nobody can be asked it is
 * cancelled, since nobody would ever resume it.
 */
export function newStepping(services: Services, runId: string, terminal: Terminal) {
  const print = (text: string) => terminal.print(printable(`${text}\n`));
  const caller = {
    principal: { kind: "session", id: "terminal" },
    by: "terminal",
    note: () => undefined,
  } as const;
  /** Whether it was carried out; what keeps it from that is printed. */
  const send = async ({ operation, input }: Pick<ReturnType<typeof readLine>, "operation" | "input">) => {
    const checked = operation.input.safeParse({ run_id: runId, ...input });
    if (!checked.success) {
      print(`${issueTexts(checked.error).join("; ")}.`);
      return false;
    }
    try {
      await perform(operation, services, checked.data, caller);
      return true;
    } catch (error) {
      const rejection = rejectionOf(error);
      if (!rejection) throw error;
      print(rejection.message);
      return false;
    }
  };
  const cancel = (reason: string) => void services.host.cancel(runId, { by: "user", reason });
  const step = (input: { granularity?: "turn" }) => ({ operation: controlOperations.step, input });

  return async (how: Answering): Promise<void> => {
    const resume = { operation: controlOperations.resume, input: {} };
    if (how === "yes") return void (await send(resume));
    if (how === "no") {
      const reason =
        "The run paused, and there is no interactive terminal to ask in. Use --yes to resume automatically.";
      print(reason);
      return cancel(reason);
    }
    const KEYS = { "": resume, c: resume, s: step({}), t: step({ granularity: "turn" }) };
    for (;;) {
      const line = (await terminal.ask(PROMPT)).trim();
      const key = line.toLowerCase();
      if (key === "q") return cancel("Cancelled in the terminal");
      try {
        if (key === "?" || key === "help") print(`\n${HELP}\n`);
        else {
          const command = Object.hasOwn(KEYS, key)
            ? KEYS[key as keyof typeof KEYS]
            : readLine(line, COMMANDS);
          if ((await send(command)) && CONTINUES.has(command.operation)) return;
        }
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        print(error.message);
      }
    }
  };
}
