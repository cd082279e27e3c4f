import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { CallPiece } from "../tool-calls/functions";

/** The pieces of an answer in the form of chat completions, as servers really send them. */

const text = z.string().nullish().catch(undefined);
/** Servers leave out, or misspell, any of it. */
const CalledFunction = z
  .object({
    name: text,
    arguments: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .nullish()
      .catch(undefined),
  })
  .nullish()
  .catch(undefined);
/** Any other fields are kept unread. */
const AnyObject = z.record(z.string(), z.any());
const CalledPiece = z
  .object({
    index: z.number().int().nullish().catch(undefined),
    id: text,
    function: CalledFunction,
  })
  .catchall(z.any());
/** Text, or a list of parts, some of which are thoughts. */
const Content = z
  .union([z.string(), z.array(z.unknown())])
  .nullish()
  .catch(undefined);
export const Chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        delta: z
          .object({
            content: Content,
            reasoning_content: text,
            reasoning: text,
            refusal: text,
            tool_calls: z.array(CalledPiece).nullish().catch(undefined),
            /** The one call that servers from before tool_calls make. */
            function_call: CalledFunction,
            /** Encrypted or signed thoughts, in pieces. */
            reasoning_details: z.array(AnyObject).nullish().catch(undefined),
            carried: z
              .object({ items: z.array(AnyObject) })
              .nullish()
              .catch(undefined),
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  /** Where Groq counts the tokens of a stream. */
  x_groq: z.object({ usage: z.unknown() }).nullish().catch(undefined),
});

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A piece of a call that a model makes. */
export function asPiece(piece: Partial<z.infer<typeof CalledPiece>>): CallPiece {
  const { index, id, function: called, type: _always, ...more } = piece;
  return {
    index: index ?? undefined,
    id: id ?? undefined,
    name: called?.name ?? undefined,
    args: called?.arguments ?? undefined,
    ...defined({ more: Object.keys(more).length > 0 ? more : undefined }),
  };
}

/** A message's content: text, or parts of which some are thoughts. */
export function readContent(content: z.infer<typeof Content>): { content: string; reasoning: string } {
  const read = { content: "", reasoning: "" };
  if (typeof content === "string") return { ...read, content };
  for (const part of content ?? []) {
    if (typeof part === "string") read.content += part;
    if (!isRecord(part)) continue;
    const isThought = typeof part.type === "string" && /think|reason/i.test(part.type);
    read[isThought ? "reasoning" : "content"] += textIn(part);
  }
  return read;
}

/** The text of a part; thoughts are lists of parts again. */
function textIn(part: unknown): string {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(textIn).join("");
  if (!isRecord(part)) return "";
  return textIn(part.text ?? part.thinking ?? part.reasoning ?? part.content ?? "");
}
