import { z } from "zod";

/** A holder's share of a provider's limits until it is changed; absent rates: unlimited. */
export const Share = z.object({
  /** Calls at the same time. */
  calls: z.number().int().min(0),
  requests_per_minute: z.number().min(0).exactOptional(),
  tokens_per_minute: z.number().min(0).exactOptional(),
});
export type Share = z.infer<typeof Share>;

/** What server and workers may believe to have, by their id and the provider's; it is kept over a restart. */
export const KeptLeases = z.record(z.string(), z.record(z.string(), Share));
export type KeptLeases = z.infer<typeof KeptLeases>;
