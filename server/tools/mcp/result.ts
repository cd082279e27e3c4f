import type { ToolOutput } from "@/server/domain/tool";
import type { Json } from "@/server/domain/values";

/** One part of an answer, as far as it is read here. */
export interface ContentBlock {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  name?: string;
  resource?: { uri: string; text?: string; blob?: string; mimeType?: string };
}

/** What a whole answer may measure, in characters; the model gets less of it. */
export const MAX_RESULT_CHARS = 2 * 1024 * 1024;

/** An answer of a server as the output of a call. What is not text is named, not carried. */
export function outputOf(
  name: string,
  answer: { content: readonly ContentBlock[]; structuredContent?: unknown; isError?: boolean },
): ToolOutput {
  const text = answer.content.map(textOf).filter(Boolean).join("\n");
  if (answer.isError)
    return { status_code: 500, error: text.slice(0, 4000) || `${name} failed and did not say why.` };
  const structured = answer.structuredContent;
  // It came as JSON, and the protocol has checked that it is an object.
  const output: Json = structured !== undefined ? (structured as Json) : text;
  const length = structured === undefined ? text.length : JSON.stringify(structured).length;
  return length > MAX_RESULT_CHARS
    ? { status_code: 413, error: `${name} gave more than ${MAX_RESULT_CHARS} characters.` }
    : { status_code: 200, output };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text ?? "";
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType ?? "unknown type"}, ${bytesOf(block.data)} bytes; not shown]`;
    case "resource_link":
      return `[link to ${block.name ?? "a resource"}: ${block.uri ?? ""}]`;
    case "resource":
      return (
        block.resource?.text ??
        `[resource ${block.resource?.uri ?? ""}, ${block.resource?.mimeType ?? "unknown type"}, ${bytesOf(block.resource?.blob)} bytes; not shown]`
      );
    default:
      return `[${block.type}; not shown]`;
  }
}

const bytesOf = (base64: string | undefined) =>
  Math.floor(((base64 ?? "").replace(/=+$/, "").length * 3) / 4);
