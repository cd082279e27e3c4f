import { z } from "zod";
import { entriesOf } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** Who or what started a run. */
export const StartedBy = z.object({
  kind: z.enum([
    ...(["person", "token", "cli", "test", "webhook", "schedule"] as const),
    ...(["form", "event", "chat", "mcp", "run"] as const),
  ]),
  id: z.string().exactOptional().meta({ description: "Of the token, the trigger or the run" }),
  name: z.string().exactOptional().meta({ description: "Its name at that time" }),
  trusted: z
    .union([z.literal(true), z.array(z.string()).readonly()])
    .exactOptional()
    .meta({
      description:
        "The input keys whose values count as a person's own words; true: all. Other input is untrusted content",
    }),
  depth: z.int().exactOptional().meta({
    description: "Of an event: length of the chain of ended runs that led to it",
  }),
});
export type StartedBy = z.infer<typeof StartedBy>;

/** The sender of a change or message to a run. Text from an untrusted sender taints the run. */
export interface Sender {
  by: string;
  untrusted?: true;
}

/** `Sender.untrusted` as stored. */
export const Untrusted = z.literal(true).exactOptional();

/** Whether the value of an input key counts as a person's own words. Without an origin, all do. */
export const isTrustedKey = (origin: StartedBy | undefined, key: string): boolean =>
  !origin || origin.trusted === true || (origin.trusted?.includes(key) ?? false);

/** The part of a run's input that counts as a person's own words. */
export const trustedInput = (origin: StartedBy | undefined, input: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([key]) => isTrustedKey(origin, key)));

/** Whether an input contains untrusted text. */
export const isTaintedBy = (origin: StartedBy | undefined, input: JsonObject): boolean =>
  entriesOf(input).some(([key, value]) => !isTrustedKey(origin, key) && !isEmpty(value));

const isEmpty = (value: Json | undefined): boolean =>
  value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
