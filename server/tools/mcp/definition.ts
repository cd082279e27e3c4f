import { createHash } from "node:crypto";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { JsonSchema, type Result } from "@/server/domain/base/values";

/** A tool as its server describes it: what a person approves, and what must not change afterwards. */
export const McpToolDefinition = z.object({
  name: z
    .string()
    .regex(
      /^@?[A-Za-z0-9_./-]{1,128}$/,
      "A tool's name can contain letters, digits and _ . / - (at most 128 characters)",
    ),
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
  /** It only works as a task: begun, and asked for its result. */
  as_task: z.literal(true).optional(),
});
export type McpToolDefinition = z.infer<typeof McpToolDefinition>;

const MAX_BYTES = 64 * 1024;

/** As tools come over the wire; nothing in it is believed to be as the protocol wants it. */
const WireTool = z.object({
  // A sign before it marks what is made here of a server's resources and prompts.
  name: z.string({ error: "it has no name" }).regex(/^(?!@)/, "A tool's name can't begin with @"),
  description: z.string().nullish(),
  inputSchema: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
  annotations: z
    .object({
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
      openWorldHint: z.boolean().optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
  execution: z
    .object({ taskSupport: z.string().optional().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** A tool as it came over the wire, or what is wrong with it, in a sentence that names it. */
export function readDefinition(tool: unknown): Result<McpToolDefinition> {
  const parsed = WireTool.safeParse(tool);
  if (!parsed.success) return { error: `"${nameOf(tool)}": ${issueText(parsed.error)}.` };
  const { name, description, inputSchema, outputSchema, annotations, execution } = parsed.data;
  const label = `"${readable(name).slice(0, 128)}"`;
  let text: string;
  try {
    text = JSON.stringify({
      name,
      description: description ?? "",
      input_schema: inputSchema,
      output_schema: outputSchema ?? undefined,
      hints: {
        read_only: annotations?.readOnlyHint,
        destructive: annotations?.destructiveHint,
        idempotent: annotations?.idempotentHint,
        open_world: annotations?.openWorldHint,
      },
      ...defined({ as_task: execution?.taskSupport === "required" || undefined }),
    });
  } catch {
    return { error: `${label} has a definition that can't be read.` };
  }
  const problem =
    Buffer.byteLength(text) > MAX_BYTES
      ? `its definition exceeds ${MAX_BYTES} bytes.`
      : jsonTextProblem(text);
  if (problem) return { error: `${label}: ${problem}` };
  const read = McpToolDefinition.safeParse(JSON.parse(text));
  return read.success ? { value: read.data } : { error: `${label}: ${issueText(read.error)}` };
}

const nameOf = (tool: unknown): string => {
  const name = isObject(tool) ? tool.name : undefined;
  return typeof name === "string" ? readable(name).slice(0, 128) : "A tool without a name";
};

/** The first fault, with its place. */
function issueText({ issues }: z.ZodError): string {
  const [first] = issues;
  const at = first?.path.join(".") ?? "";
  return `${at === "" ? "" : `${at}: `}${first?.message ?? "can't be read"}`;
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
