import { z } from "zod";
import { JsonSchema } from "@/server/domain/base/values";

/** A request of Chat Completions, as far as the offline demo model reads it. */
export const ChatRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({
        role: z.string(),
        content: z
          .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() })), z.null()])
          .optional(),
      }),
    )
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  seed: z.number().nullish(),
  n: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  response_format: z
    .object({
      type: z.string(),
      json_schema: z.object({ name: z.string(), schema: JsonSchema.optional() }).optional(),
    })
    .nullish(),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          parameters: JsonSchema.optional(),
        }),
      }),
    )
    .nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.object({ function: z.object({ name: z.string() }) })])
    .nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** The text of a message, which may come in parts. */
export const textOf = (content: ChatRequest["messages"][number]["content"]): string =>
  typeof content === "string" ? content : (content?.map((part) => part.text ?? "").join("") ?? "");
