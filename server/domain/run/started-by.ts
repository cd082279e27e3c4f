import { entriesOf } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** Who or what started a run. */
export interface StartedBy {
  kind: "person" | "token" | "cli" | "test" | "webhook" | "schedule" | "form" | "event" | "chat" | "mcp" | "run";
  /** Of the token, the trigger or the run. */
  id?: string;
  /** Its name at that time. */
  name?: string;
  /**
   * The input keys whose values count as a person's own words; true: all. Other input may be a stranger's text: it taints the
   * run from its first event.
   */
  trusted?: true | readonly string[];
}

/** Who sent something into a run. What an untrusted sender wrote taints the run, and is no person's own words. */
export interface Sender {
  by: string;
  untrusted?: true;
}

/** Whether the value of an input key counts as a person's own words. Without an origin, all do. */
export const isTrustedKey = (origin: StartedBy | undefined, key: string): boolean =>
  !origin || origin.trusted === true || (origin.trusted?.includes(key) ?? false);

/** The part of a run's input that counts as a person's own words. */
export const trustedInput = (origin: StartedBy | undefined, input: JsonObject): JsonObject =>
  Object.fromEntries(entriesOf(input).filter(([key]) => isTrustedKey(origin, key)));

/** Whether an input brings text into a run that no person vouches for. */
export const isTaintedBy = (origin: StartedBy | undefined, input: JsonObject): boolean =>
  entriesOf(input).some(([key, value]) => !isTrustedKey(origin, key) && !isEmpty(value));

const isEmpty = (value: Json | undefined): boolean =>
  value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
