import { createHash } from "node:crypto";
import { z } from "zod";
import { jsonTextProblem } from "@/server/domain/json-limits";
import { canonicalJson, JsonSchema } from "@/server/domain/values";

/** A tool as its server describes it: what a person approves, and what must not change afterwards. */
export const McpToolDefinition = z.object({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_./-]{1,128}$/, "A tool's name may have letters, digits and _ . / - (at most 128)"),
  description: z.string().max(20_000).default(""),
  input_schema: JsonSchema,
  output_schema: JsonSchema.optional(),
  /** The server's own word about itself: believed only where it warns. */
  hints: z
    .object({
      read_only: z.boolean().optional(),
      destructive: z.boolean().optional(),
      idempotent: z.boolean().optional(),
      open_world: z.boolean().optional(),
    })
    .default({}),
});
export type McpToolDefinition = z.infer<typeof McpToolDefinition>;

const MAX_BYTES = 64 * 1024;

/** A tool as it came over the wire, or what is wrong with it. */
export function readDefinition(tool: {
  name: string;
  description?: string;
  inputSchema: unknown;
  outputSchema?: unknown;
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}): { definition: McpToolDefinition } | { problem: string } {
  const name = readable(String(tool.name)).slice(0, 128);
  let text: string;
  try {
    text = JSON.stringify({
      name: tool.name,
      description: tool.description ?? "",
      input_schema: tool.inputSchema,
      output_schema: tool.outputSchema,
      hints: {
        read_only: tool.annotations?.readOnlyHint,
        destructive: tool.annotations?.destructiveHint,
        idempotent: tool.annotations?.idempotentHint,
        open_world: tool.annotations?.openWorldHint,
      },
    });
  } catch {
    return { problem: `"${name}" has a description that cannot be read.` };
  }
  const problem =
    Buffer.byteLength(text) > MAX_BYTES
      ? `is described in more than ${MAX_BYTES} bytes.`
      : jsonTextProblem(text);
  if (problem) return { problem: `"${name}": ${problem}` };
  const read = McpToolDefinition.safeParse(JSON.parse(text));
  return read.success
    ? { definition: read.data }
    : { problem: `"${name}": ${read.error.issues[0]?.message ?? "cannot be read"}` };
}

/** What a definition is recognised by: any change of it gives another one. SHA-256, hex. */
export const fingerprintOf = (definition: McpToolDefinition): string =>
  createHash("sha256").update(canonicalJson(definition)).digest("hex");

/** Text from a server without what hides or reorders it: control, zero-width and direction characters are spelled out. */
export function readable(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ""}}`);
}
// Line breaks and tabs stay; \p{Cf} holds zero-width, direction and tag characters.
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
