import { canonicalJson } from "@/server/domain/base/json";
import type { RunEvent } from "../events";
import { type Detector, type Finding, type Looked, named, of, placeOf } from "./finding";

/** After its conversation was shortened, or after a handoff, work is done again that was done before. */
export const historyLost: Detector = (run) => [...afterShortening(run), ...afterHandoff(run)];

function afterShortening({ agents }: Looked): Finding[] {
  const found: Finding[] = [];
  for (const own of agents.values()) {
    const shortened = of(own, "context_condensed")[0];
    if (!shortened) continue;
    const before = new Set(worked(own.filter(({ seq }) => seq < shortened.seq)));
    const again = own.find(
      (event) => event.seq > shortened.seq && event.type === "tool_call_started" && before.has(stepOf(event)),
    );
    if (again?.type === "tool_call_started")
      found.push({
        kind: "history_lost",
        ...placeOf(again),
        said: `${named(again.agent_id)} repeated a call to ${again.payload.tool_name} after its conversation was compacted.`,
        advice:
          "Give it less to read at once, use a model with a larger context window, or keep what matters in the state or on the board.",
      });
  }
  return found;
}

function afterHandoff({ activations }: Looked): Finding[] {
  const found: Finding[] = [];
  for (const own of activations.values())
    for (const handoff of of(own, "handed_off")) {
      const { from, to } = handoff.payload;
      const before = new Set(
        worked(own.filter(({ seq, agent_id }) => seq < handoff.seq && agent_id === from)),
      );
      const again = own.find(
        (event) =>
          event.seq > handoff.seq &&
          event.agent_id === to &&
          event.type === "tool_call_started" &&
          before.has(stepOf(event)),
      );
      if (again?.type === "tool_call_started")
        found.push({
          kind: "history_lost",
          ...placeOf(again),
          said: `${named(to)} called ${again.payload.tool_name} again, although ${named(from)} had just done so before the handoff.`,
          advice: "Pass the results along in the handoff, or let both read the same state keys.",
        });
    }
  return found;
}

/** What was done with success, by what was asked for. */
function worked(events: readonly RunEvent[]): string[] {
  const good = new Set(
    of(events, "tool_call_completed").flatMap(({ call_id, payload }) =>
      payload.status_code === 200 && call_id ? [call_id] : [],
    ),
  );
  return of(events, "tool_call_started").flatMap((event) =>
    event.call_id && good.has(event.call_id) && !isTalk(event.payload.tool_name) ? [stepOf(event)] : [],
  );
}

/** Tools by which members deal with each other: calling them twice says nothing. */
const isTalk = (name: string) => /^(handoff|finish|reject_task|delegate|ask|post|board|message)/.test(name);

const stepOf = (event: RunEvent): string =>
  event.type === "tool_call_started" ? canonicalJson([event.payload.tool_name, event.payload.args]) : "";
