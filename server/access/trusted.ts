import type { Sender } from "@/server/domain/run/started-by";
import type { Principal } from "./principal";

/** Whether input from this principal is trusted. */
export const isTrusted = ({ kind, isTrusted = true }: Principal): boolean =>
  kind === "session" || (kind === "token" && isTrusted);

/** The sender of input to a run, for its events. */
export const senderOf = ({ by, principal }: { by: string; principal: Principal }): Sender => ({
  by,
  ...(isTrusted(principal) ? {} : { untrusted: true }),
});
