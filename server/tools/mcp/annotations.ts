import { z } from "zod";
import { OnCrash, RiskLevel } from "@/server/domain/tool/tool";

/**
 * What somebody here says of a tool of an MCP server. Neither `reads` nor `inside`: it acts on the outside, as every tool
 * does of which nobody has said anything.
 */
export const McpToolWord = z
  .strictObject({
    /** It changes nothing. */
    reads: z.boolean().default(false),
    /** It writes, but only into a system of one's own, where nobody else sees it: nothing leaves by it. */
    inside: z.boolean().default(false),
    /** Its results are this installation's own, such as a directory: they do not count as content of strangers. */
    own: z.boolean().default(false),
    /** LOW for what only reads, where nothing else is said. */
    risk: RiskLevel.optional(),
    on_crash: OnCrash.optional(),
  })
  .refine(({ reads, inside }) => !(reads && inside), "say either reads or inside, not both");
export type McpToolWord = z.infer<typeof McpToolWord>;

/** A server's own annotations: a person sees them, and nothing here believes them but where they warn. */
export interface McpHints {
  read_only?: boolean | undefined;
  destructive?: boolean | undefined;
  idempotent?: boolean | undefined;
  /** False: it stays within a system of its own. What strangers wrote into that it may give back all the same. */
  open_world?: boolean | undefined;
}
