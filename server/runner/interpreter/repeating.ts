import type { RunState } from "@/server/domain/run";
import { doneBy, type RepeatedCommand, readCommands } from "@/server/domain/run/commands/repeated";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";

/** Gives a run what people told the one that it repeats, each at the place at which that one was told it. */
export class Repeating {
  private readonly left: RepeatedCommand[];
  private readonly all: number;
  private readonly settled = new Set<string>();

  constructor(
    private readonly s: RunState,
    created?: RunEvent,
  ) {
    this.left = created?.type === "run_created" ? readCommands(created.payload.repeats ?? []) : [];
    this.all = this.left.length;
  }

  /** How many commands were repeated so far; undefined if all were. */
  get taken(): number | undefined {
    return this.left.length === 0 ? undefined : this.all - this.left.length;
  }

  /** The commands to whose place the run has not come. */
  get commands(): readonly RepeatedCommand[] {
    return this.left;
  }

  /** Whether the next command retries a failed node. */
  get isRetryNext(): boolean {
    return this.left[0]?.command.kind === "retry_node";
  }

  note(key: string): void {
    if (this.left.length > 0) this.settled.add(key);
  }

  /**
   * The next command, if the run has reached its position. `isStuck`: nothing else will happen, so the next command
   * resumes a paused run wherever it is.
   */
  take(isStuck: boolean): RepeatedCommand | undefined {
    const [next] = this.left;
    if (!next) return undefined;
    const isPaused = this.s.run.paused_at !== undefined;
    const isDue = (!next.while_paused || isPaused) && next.after.every((key) => this.isOver(key));
    if (!isDue && !(isPaused && isStuck)) return undefined;
    return this.left.shift();
  }

  /** Whether an answer came, or can come no more: failures of the original are not repeated. */
  private isOver(key: string): boolean {
    if (this.settled.has(key)) return true;
    const activation = this.s.activations[activationOf(key)];
    return activation !== undefined && ENDED.has(activation.status);
  }
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "skipped"]);

/** The activation that waits for an answer, by the answer's key. */
export const activationOf = (key: string): string => key.replace(/^answer:/, "").split("/", 1)[0] ?? "";

const warning = (message: string): NewEvent => ({
  type: "warning",
  payload: { code: "NOT_REPEATED", message },
});

/** The events for a command that doesn't fit where it is repeated. A node that didn't fail needs no retry. */
export function notFitting(repeated: RepeatedCommand, rejection: string): NewEvent[] {
  if (repeated.command.kind === "retry_node") return [];
  const [description = "messaged it"] = doneBy([repeated]);
  return [
    warning(
      `In the original run, ${repeated.by} ${description} at this point. It no longer applies here: ${rejection}`,
    ),
  ];
}

/** Says which commands were not repeated, as the run ends without having come to their place. */
export function leftOut({ commands, isRetryNext }: Repeating): NewEvent[] {
  const descriptions = isRetryNext ? [] : doneBy(commands);
  return descriptions.length === 0
    ? []
    : [
        warning(
          `In the original run, a person ${descriptions.join(", ")} at a point this run didn't reach, so this wasn't repeated.`,
        ),
      ];
}
