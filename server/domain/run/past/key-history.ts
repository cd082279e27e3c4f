import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { evolve, newRun, type RunState } from "..";
import type { RunEvent } from "../events";

/** One time that a key of the state was written. */
export interface KeyWrite {
  seq: number;
  ts: number;
  /** An activation id, or "input". For a person's edit, the previous writer of the key. */
  writer: string;
  node_id?: string;
  /** The agent whose answer became the value, where the events tell. */
  agent_id?: string;
  /** The person who wrote it themselves. */
  by?: string;
  /** The value before; absent where the key was not there. */
  before?: Json;
  /** The value after; absent where the key is gone. */
  after?: Json;
}

/** Every time that a key was written, the oldest first: also where the value stayed the same. */
export function keyHistory(events: readonly RunEvent[], key: string): KeyWrite[] {
  const state = newRun();
  const writes: KeyWrite[] = [];
  const answered: Answers = new Map();
  for (const event of events) {
    noteAnswer(answered, event);
    const before = stateOf(state, key);
    const isNamed = writtenKeys(event).includes(key);
    evolve(state, event);
    const after = stateOf(state, key);
    if (!isNamed && before.version === after.version) continue;
    if (before.value === undefined && after.value === undefined) continue;
    writes.push({
      ...writeOf(state, event, key, answered),
      ...defined({ before: before.value, after: after.value }),
    });
  }
  return writes;
}

/** Who wrote the value that a key has after an event; null where it has none. */
export function whoWrote(events: readonly RunEvent[], key: string, at: number): KeyWrite | null {
  const last = keyHistory(
    events.filter(({ seq }) => seq <= at),
    key,
  ).at(-1);
  return last?.after === undefined ? null : last;
}

/** The state keys that an event writes or removes. */
export function writtenKeys(event: RunEvent): string[] {
  const stateChange = recordOf(wordOnState(event));
  const parts = ["state", "set", "changed"].map((part) => stateChange[part]);
  const gone = stateChange.remove;
  return [
    ...parts.flatMap((part) => (typeof part === "object" && part !== null ? Object.keys(part) : [])),
    ...(Array.isArray(gone) ? gone.filter((key) => typeof key === "string") : []),
  ];
}

/** What an event says of the state: a fork's own values, which a person gave it, stand among its patches. */
function wordOnState({ type, payload }: RunEvent): unknown {
  if (type === "run_forked") return payload.patches.state;
  return type.startsWith("state_") ? payload : undefined;
}

type Answers = Map<string, { agent_id: string; output: Readonly<Record<string, Json>> | undefined }[]>;

function noteAnswer(answers: Answers, event: RunEvent): void {
  if (event.type !== "agent_finished" || !event.agent_id || !event.activation_id) return;
  const those = answers.get(event.activation_id) ?? [];
  those.push({ agent_id: event.agent_id, output: event.payload.output });
  answers.set(event.activation_id, those);
}

function writeOf(state: RunState, event: RunEvent, key: string, answers: Answers): KeyWrite {
  const { seq, ts, payload } = event;
  const { by } = recordOf(payload);
  const writer = state.writer[key] ?? "input";
  const agent_id = agentOf(answers.get(writer) ?? [], key, state.state[key]);
  const node_id = state.activations[writer]?.node_id ?? event.node_id;
  return {
    seq,
    ts,
    writer,
    ...(typeof by === "string"
      ? { by }
      : {
          ...defined({ node_id, agent_id }),
        }),
  };
}

/** The agent whose output holds the value, the latest of several; if none does, the only agent that answered. */
function agentOf(
  answers: readonly Exclude<ReturnType<Answers["get"]>, undefined>[number][],
  key: string,
  value: Json | undefined,
) {
  const exact = answers.findLast(
    ({ output }) => output?.[key] !== undefined && isSameJson(output[key], value),
  );
  if (exact) return exact.agent_id;
  const names = new Set(answers.map(({ agent_id }) => agent_id));
  return names.size === 1 ? [...names][0] : undefined;
}

const stateOf = (s: RunState, key: string) => ({ value: s.state[key], version: s.versions[key] });
