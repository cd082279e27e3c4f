const YES: ReadonlySet<string> = new Set(["approve", "approved", "yes", "accept", "accepted"]);
const NO: ReadonlySet<string> = new Set([
  "reject",
  "rejected",
  "no",
  "deny",
  "denied",
  "decline",
  "declined",
]);

/** Whether a person who chooses an answer of that name says yes, or no. */
export const isApproval = (name: string): boolean => YES.has(name.trim().toLowerCase());
export const isRejection = (name: string): boolean => NO.has(name.trim().toLowerCase());
