import { z } from "zod";
import { namedError } from "@/server/domain/base/named-error";

/** Why a run is quarantined, until it is retried or a person cancels it. */
export const QuarantineReason = z.object({
  code: z.enum([
    /** The server hung while it executed this run, or crashed more than once. */
    "stopped_server",
    /** What was recorded of it cannot be read. */
    "damaged_log",
    /** What would be done now is not what its log says. */
    "log_differs",
    /** It began with another version of Troupe. */
    "unknown_version",
    /** Something that it needs outside its log can't be read, such as a provider. */
    "settings_damaged",
    /** Its engine is not known to this server. */
    "engine_missing",
  ]),
  /** For people: what happened, and what they can do. */
  message: z.string(),
  /** Since when, in Unix milliseconds. */
  at: z.int(),
  retry_at: z.int().optional().meta({
    description: "Time of the automatic retry, in Unix milliseconds; omitted if a person decides",
  }),
});
export type QuarantineReason = z.infer<typeof QuarantineReason>;

const ADVICE: Readonly<Record<QuarantineReason["code"], string>> = {
  stopped_server: "Retry it once the cause is resolved, or cancel it.",
  damaged_log: "Restore an undamaged copy of the data folder and retry, or cancel the run.",
  log_differs: "Retry it with the Troupe version that last ran it, or cancel it.",
  // Its own sentence names the version.
  unknown_version: "",
  settings_damaged: "Fix the cause and retry, or cancel the run.",
  engine_missing:
    "Start the server with TROUPE_RESTATE_INGRESS to resume it there. If Restate is gone permanently, retry it here (an active step may run twice) or cancel it.",
};

/** What happened, as sentences, with what a person can do about it. */
export const heldMessage = (code: QuarantineReason["code"], happened: string, isRetried = false): string =>
  [
    /[.!?]$/.test(happened) ? happened : `${happened}.`,
    isRetried ? "It will be retried automatically. You can also retry it now, or cancel it." : ADVICE[code],
  ]
    .filter(Boolean)
    .join(" ");

/** Stored data that a run needs outside its log can't be read; the message says which, and how to repair it. */
export class SettingsDamaged extends namedError("SettingsDamaged") {}

/** A log that cannot be read to its end. */
export class DamagedLog extends namedError("DamagedLog") {}
