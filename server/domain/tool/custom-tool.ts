import { z } from "zod";
import { JsonSchema } from "@/server/domain/base/values";
import { RiskLevel } from "./tool";

/** The JSON Schema of a tool's arguments: an object at the root. */
const ArgumentsSchema = JsonSchema.refine(
  (schema) => schema.type === "object",
  "The arguments schema must have the type object",
).default({ type: "object", properties: {}, additionalProperties: false });

/** A tool that a person writes in the app: JavaScript that runs in the sandbox. */
export const CustomToolDefinition = z.object({
  name: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
      "Use letters, digits, _ and - and start with a letter (at most 64)",
    )
    .refine((name) => !["constructor", "prototype"].includes(name), "This name is reserved"),
  description: z.string().trim().min(1, "Describe what the tool does, for models").max(4000),
  input_schema: ArgumentsSchema,
  output_schema: JsonSchema.optional(),
  /** The body of an async function of `input`; what it returns is the result. */
  code: z
    .string()
    .min(1, "Enter the code")
    .max(64 * 1024),
  risk: RiskLevel.default("LOW"),
  /** How long it may compute, in milliseconds. */
  timeout_ms: z.number().int().min(100).max(10_000).default(1_000),
});
export type CustomToolDefinition = z.infer<typeof CustomToolDefinition>;
