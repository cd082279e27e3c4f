import { createInterface } from "node:readline/promises";
import type { RunEvent, RunEventOf } from "@/server/domain/events";
import type { Host } from "@/server/runner/host";
import { printable, printableLine } from "./printable";

type Question = RunEventOf<"interaction_requested">["payload"];
type Answer = Parameters<Host["answer"]>[3];

/** How questions of a run are answered where no browser shows them. */
export type Answering = "ask" | "yes" | "no";

/**
 * Answers a run's questions as they come: by asking at the terminal, or always the same. Without a terminal and without
 * `--yes` the answer is no, at once: nobody will come.
 */
export function newAnswering(host: Pick<Host, "answer">, runId: string, how: Answering) {
  let asking = Promise.resolve();
  const give = (question: Question, value: Omit<Answer, "by">) => {
    host.answer(runId, question.interaction_id, question.fingerprint, { ...value, by: "terminal" });
  };
  return {
    events(events: readonly RunEvent[]): void {
      for (const event of events) {
        if (event.type !== "interaction_requested") continue;
        const question = event.payload;
        if (how === "yes") give(question, { answer: "approve" });
        else if (how === "no")
          give(question, {
            answer: "reject",
            message: "Nobody can be asked here; --yes agrees to everything.",
          });
        // One after the other: there is one keyboard.
        else asking = asking.then(async () => give(question, await askAtTerminal(question)));
      }
    },
  };
}

async function askAtTerminal(question: Question): Promise<Omit<Answer, "by">> {
  const shown = question.calls ?? (question.args ? [question] : []);
  const about = shown.map((call) => `\n${asText(call)}`).join("\n");
  // Whoever agrees must see what is really asked.
  process.stderr.write(
    `\n${printableLine(question.title)}\n${printableLine(question.why)}${printable(about)}\n`,
  );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const words = (await terminal.question("Agree? y = yes, a = yes for the whole run, anything else = no: "))
      .trim()
      .toLowerCase();
    if (words === "y" || words === "yes") return { answer: "approve" };
    if (words === "a") return { answer: "approve_always" };
    return { answer: "reject", ...(words && words !== "n" && words !== "no" ? { message: words } : {}) };
  } finally {
    terminal.close();
  }
}

/** What is called, with what, and where it leads that nobody wrote. */
function asText({
  tool_name,
  args,
  destinations = [],
}: Pick<Question, "tool_name" | "args" | "destinations">): string {
  const places = destinations.map(
    ({ value, from }) =>
      `  leads to ${value} (${from === null ? "in nothing that was read" : `from ${from}`})`,
  );
  return [tool_name, JSON.stringify(args, null, 2), ...places].filter(Boolean).join("\n");
}
