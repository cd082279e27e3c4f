import { defined } from "@/server/domain/base/defined";
import { canonicalJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import type { ExpectationResult } from "../report";

/** The run that expectations are checked against. */
export interface Seen {
  events: readonly RunEvent[];
  /** After the last event. */
  state: RunState;
}

export type Finding = Omit<ExpectationResult, "at" | "expectation">;

export type At = Pick<Finding, "node_id" | "seq">;

export const found = (
  holds: boolean,
  sentence: string,
  { expected, seen, ...at }: { expected?: Json; seen?: Json } & At = {},
): Finding =>
  defined({ status: holds ? ("passed" as const) : ("failed" as const), sentence, expected, seen, ...at });

export const placeOf = (event: RunEvent | undefined): At =>
  defined({ seq: event?.seq, node_id: event?.node_id });

/** The `run_finished` event, or else the last one. */
export const lastOf = ({ events }: Seen): RunEvent | undefined =>
  events.findLast(({ type }) => type === "run_finished") ?? events.at(-1);

/** A value inside a sentence, shortened. */
export function shown(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = typeof value === "string" ? value.replace(/\s+/g, " ").trim() : canonicalJson(value);
  const short = text.length > 120 ? `${text.slice(0, 119)}…`.toWellFormed() : text;
  return typeof value === "string" ? `“${short}”` : short;
}

/** once, twice, 3 times; never for 0. */
export const times = (count: number): string =>
  count === 0 ? "never" : count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
