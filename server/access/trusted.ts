import type { Sender } from "@/server/domain/run/started-by";
import type { Principal } from "./principal";

/** Whether what they send counts as a person's own words. */
export const isTrusted = ({ kind, isTrusted = true }: Principal): boolean =>
  kind === "session" || (kind === "token" && isTrusted);

/** Who sends something into a run, as its events name them. */
export const senderOf = ({ by, principal }: { by: string; principal: Principal }): Sender => ({
  by,
  ...(isTrusted(principal) ? {} : { untrusted: true }),
});
