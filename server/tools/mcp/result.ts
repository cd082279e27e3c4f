import { z } from "zod";
import { isList, isObject } from "@/server/domain/base/guards";
import type { Json } from "@/server/domain/base/values";
import type { ToolOutput } from "@/server/domain/tool/tool";

/** One part of a result, with the fields that are used here. */
export const ContentBlock = z.object({
  type: z.string(),
  text: z.string().optional().catch(undefined),
  data: z.string().optional().catch(undefined),
  mimeType: z.string().optional().catch(undefined),
  uri: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  resource: z
    .object({
      uri: z.string(),
      text: z.string().optional(),
      blob: z.string().optional(),
      mimeType: z.string().optional(),
    })
    .optional()
    .catch(undefined),
});
export type ContentBlock = z.infer<typeof ContentBlock>;

/** What a whole answer may measure, in characters; the model gets less of it. */
export const MAX_RESULT_CHARS = 2 * 1024 * 1024;

/** An answer of a server as the output of a call. What is not text is named, not carried. */
export function outputOf(
  name: string,
  answer: { content: readonly ContentBlock[]; structuredContent?: unknown; isError?: boolean | undefined },
): ToolOutput {
  const text = answer.content.map(textOf).filter(Boolean).join("\n");
  if (answer.isError)
    return { status_code: 500, error: text.slice(0, 4000) || `${name} failed and did not say why.` };
  const structured = answer.structuredContent;
  // The protocol has checked that it is an object.
  const output: Json = structured !== undefined ? withoutBinaries(structured) : text;
  const length = structured === undefined ? text.length : JSON.stringify(output).length;
  return length > MAX_RESULT_CHARS
    ? { status_code: 413, error: `${name} returned more than ${MAX_RESULT_CHARS} characters.` }
    : { status_code: 200, output };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return withoutBinariesIn(block.text ?? "");
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType ?? "unknown type"}, ${bytesOf(block.data)} bytes; not shown]`;
    case "resource_link":
      return `[link to ${block.name ?? "a resource"}: ${block.uri ?? ""}]`;
    case "resource":
      return block.resource?.text !== undefined
        ? withoutBinariesIn(block.resource.text)
        : `[resource ${block.resource?.uri ?? ""}, ${block.resource?.mimeType ?? "unknown type"}, ${bytesOf(block.resource?.blob)} bytes; not shown]`;
    default:
      return `[${block.type}; not shown]`;
  }
}

/** So much text in base64 is a picture or a file, and no model reads it. */
const BINARY = /^(?:data:[\w.+-]+\/[\w.+-]+;base64,)?[A-Za-z0-9+/_-]{512,}={0,2}$/;

/**
 * The same inside a text, as in JSON. The lookbehind makes each match start at a boundary, so every character is
 * visited once.
 */
const BINARY_WITHIN = /(?<![\w+/-])(data:[\w.+-]+\/[\w.+-]+;base64,)?([\w+/-]{512,}={0,2})/g;

/** A long line, a sequence of genes or a number is written in the same characters, but never in all kinds of them. */
const isMixed = (run: string) => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run);

const named = (base64: string) => `[base64, ${bytesOf(base64)} bytes; not shown]`;

/** A text in which pictures and files are named instead of carried; all else stays. */
const withoutBinariesIn = (text: string): string =>
  text.replace(BINARY_WITHIN, (whole: string, address: string | undefined, base64: string) =>
    address !== undefined || isMixed(base64) ? named(base64) : whole,
  );

/** A structured answer whose pictures and files are named instead of carried, as in an answer of parts. */
function withoutBinaries(value: unknown): Json {
  if (typeof value === "string")
    return BINARY.test(value.replace(/\r?\n/g, "")) ? named(value) : withoutBinariesIn(value);
  if (isList(value)) return value.map(withoutBinaries);
  if (typeof value === "number" || typeof value === "boolean") return value;
  // It came as JSON, which has nothing else.
  if (!isObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBinaries(inner)]));
}

const bytesOf = (base64: string | undefined) =>
  Math.floor(((base64 ?? "").replace(/={1,2}$/, "").length * 3) / 4);
