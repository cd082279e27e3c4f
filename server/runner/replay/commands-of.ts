import { defined } from "@/server/domain/base/defined";
import { tooLate } from "@/server/domain/run/commands/command";
import {
  MOST_REPEATED,
  RepeatedCommand,
  readCommands,
  worthRepeating,
} from "@/server/domain/run/commands/repeated";
import type { Sender } from "@/server/domain/run/started-by";
import type { Journal, Turn } from "../durable/embedded-contract";
import { activationOf } from "../interpreter/repeating";
import { type Execute, retell } from "./retrace";

/** Answers that another run does not have: notes of the engine, commands, times that were over, pauses for other runs. */
const OWN = /^(recovered|clock|control|breath)#|\/timeout\d+$|^\$/;

/** How many places a command can hang on. */
const MOST_PLACES = 64;

/**
 * People's commands to a run other than answers, to repeat in a run that takes the same path; empty if they only
 * resumed it. Late commands are left out: they had no effect.
 */
export function commandsOf(runId: string, journal: Journal, execute: Execute): readonly RepeatedCommand[] {
  const created = journal.turns[0]?.events[0];
  const found: RepeatedCommand[] = [
    ...(created?.type === "run_created" ? readCommands(created.payload.repeats ?? []) : []).slice(
      0,
      repeatedBy(journal),
    ),
  ];
  let last = new Map<string, string>();
  const hasCommands = journal.turns.some(({ key }) => key?.startsWith("control#") || key === "$cancel");
  if (!hasCommands) return found;
  retell(runId, journal, execute, (key, turn, state) => {
    const command = turn && commandIn(turn);
    if (command) {
      const read = RepeatedCommand.safeParse({
        after: [...last.values()].slice(-MOST_PLACES),
        ...defined({ while_paused: state?.run.paused_at ? true : undefined }),
        ...command,
      });
      if (!read.success || found.length >= MOST_REPEATED) return;
      found.push(read.data);
      last = new Map();
    } else if (!OWN.test(key)) {
      const activation = activationOf(key);
      last.delete(activation);
      last.set(activation, key);
    }
  });
  return worthRepeating(found);
}

/** How many commands a fork of a replay has from that; undefined: all. */
const repeatedBy = ({ turns }: Journal): number | undefined =>
  turns
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === "run_forked" ? (event.payload.repeated ?? []) : []))[0];

/** The command that began a turn, and that took effect there. */
function commandIn({ key, result, events }: Turn): (Sender & { command: unknown }) | null {
  if (key !== "$cancel" && !key?.startsWith("control#")) return null;
  if (!result?.ok || typeof result.value !== "object" || result.value === null || Array.isArray(result.value))
    return null;
  const { by, untrusted, ...value } = result.value;
  const sender = {
    by: typeof by === "string" ? by : "user",
    ...defined({ untrusted: untrusted === true || undefined }),
  };
  if (key === "$cancel") return { ...sender, command: { kind: "cancel", reason: value.reason ?? "" } };
  return events.length === 0 || tooLate(events) !== null ? null : { ...sender, command: value };
}
