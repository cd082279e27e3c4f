import { canonicalJson } from "@/server/domain/base/json";
import type { RunState } from "..";
import type { RunEvent } from "../events";
import { type Detector, type Finding, named, of, placeOf, plain } from "./finding";

/** This often, the same step is no accident. */
const OFTEN = 3;

/** An agent repeats a tool call with the same arguments and result, or goes in circles; a loop changes nothing. */
export const repeatedStep: Detector = ({ agents, events, state }) => {
  const found: Finding[] = [];
  for (const own of agents.values()) {
    found.push(...repeatedCalls(own));
    const [stuck] = of(own, "stuck_detected");
    const isFound = found.some(
      ({ activation_id, agent_id }) => activation_id === stuck?.activation_id && agent_id === stuck?.agent_id,
    );
    if (stuck && !isFound)
      found.push({
        kind: "repeated_step",
        ...placeOf(stuck),
        said: `${named(stuck.agent_id)} was stuck in a loop: ${stuck.payload.message}`,
        advice: "Check its prompt at that point. Split the task, or say when it is done.",
      });
  }
  return [...found, ...unchangedLoops(events, state)];
};

function repeatedCalls(own: readonly RunEvent[]): Finding[] {
  const found: Finding[] = [];
  const counts = new Map<string, number>();
  const results = new Map(of(own, "tool_call_completed").map((event) => [event.call_id, event.payload]));
  for (const call of of(own, "tool_call_started")) {
    const { tool_name, args } = call.payload;
    const result = results.get(call.call_id);
    if (!result) continue;
    const step = canonicalJson([tool_name, args, result.status_code, result.output ?? result.error ?? null]);
    const count = (counts.get(step) ?? 0) + 1;
    counts.set(step, count);
    if (count === OFTEN)
      found.push({
        kind: "repeated_step",
        ...placeOf(call),
        said: `${named(call.agent_id)} called ${tool_name} ${OFTEN} times with the same arguments and got the same result each time.`,
        advice: "Say in the role what to do when a tool returns nothing new, or lower Max turns.",
      });
  }
  return found;
}

function unchangedLoops(events: readonly RunEvent[], { activations, graph }: RunState): Finding[] {
  const found: Finding[] = [];
  const last = new Map<string, { text: string; count: number }>();
  for (const done of of(events, "node_completed")) {
    const id = done.node_id ?? "";
    const { output } = done.payload;
    const activation = activations[done.activation_id ?? ""];
    const isEmpty = Object.keys(output).length === 0;
    if (activation?.iteration === undefined || activation.calls.length === 0 || isEmpty) continue;
    const text = plain(canonicalJson(output));
    const before = last.get(id);
    const count = before?.text === text ? before.count + 1 : 1;
    last.set(id, { text, count });
    if (count === OFTEN)
      found.push({
        kind: "repeated_step",
        ...placeOf(done),
        said: `The loop repeated, and ${graph.nodes[id]?.name || id} returned the same result ${OFTEN} times.`,
        advice: "Feed the check's findings back into the step, or end the loop when nothing changes.",
      });
  }
  return found;
}
