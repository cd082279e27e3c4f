import { z } from "zod";
import { OnCrash, RiskLevel } from "@/server/domain/tool/tool";

/**
 * A person's annotations of an MCP tool. Without `reads` or `inside` the tool acts externally, as does every tool
 * without annotations.
 */
export const McpToolWord = z
  .strictObject({
    /** It changes nothing. */
    reads: z.boolean().default(false),
    /** It writes only to an internal system that nobody else sees: no data leaves by it. */
    inside: z.boolean().default(false),
    /** Its results are the installation's own, such as a directory: they don't count as untrusted content. */
    own: z.boolean().default(false),
    /** LOW for what only reads, where nothing else is said. */
    risk: RiskLevel.optional(),
    on_crash: OnCrash.optional(),
  })
  .refine(({ reads, inside }) => !(reads && inside), "use either reads or inside, not both");
export type McpToolWord = z.infer<typeof McpToolWord>;

/** A server's own annotations: a person sees them, and nothing here believes them but where they warn. */
export interface McpHints {
  read_only?: boolean | undefined;
  destructive?: boolean | undefined;
  idempotent?: boolean | undefined;
  /** False: it stays within a closed system. Even so, it may return untrusted content that others stored there. */
  open_world?: boolean | undefined;
}
