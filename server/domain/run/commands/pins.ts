import { z } from "zod";
import { Json } from "@/server/domain/base/values";

/** What a node is to give instead of being carried out: its output as an earlier run had it, and the ways it took. */
export const Pin = z.strictObject({
  output: z.record(z.string().max(200), Json),
  /** Of a router: the labels of its ways. */
  labels: z.array(z.string().max(200)).max(100).exactOptional(),
});
export type Pin = z.infer<typeof Pin>;

/** Pins by node. */
export const Pins = z.record(z.string().max(200), Pin);
export type Pins = z.infer<typeof Pins>;
