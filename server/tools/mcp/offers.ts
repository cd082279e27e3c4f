import { z } from "zod";
import { type Json, type JsonObject, JsonSchema } from "@/server/domain/base/values";
import { type McpToolDefinition, readable } from "./definition";
import { ContentBlock, MAX_RESULT_CHARS, outputOf } from "./result";

// A server's offers besides tools: resources, read by URI, and prompts, templates with arguments. Agents reach each
// through a tool whose name starts with a character that no server's own tool may have.

export const READ_RESOURCE = "@read_resource";
export const GET_PROMPT = "@get_prompt";

/** Something to read at a server, as the server describes it; hidden characters are spelled out. */
export interface McpResource {
  uri: string;
  name: string;
  description: string;
  mime_type: string | null;
  /** In bytes, by the server's word. */
  size: number | null;
  /** Its address has places to fill in, such as `file:///{path}`. */
  is_template: boolean;
}

/** A text of a server, with places to fill in. */
export interface McpPrompt {
  name: string;
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
}

const text = (most: number) =>
  z
    .string()
    .nullish()
    .catch(undefined)
    .transform((value) => readable(value ?? "").slice(0, most));
/** It is sent back to the server unchanged: nothing in it may be hidden from a reader. */
const named = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((value) => readable(value) === value);
const Address = named(2000);
const described = {
  name: text(200),
  title: text(200),
  description: text(2000),
  mimeType: text(200),
};
const WireResource = z.object({
  uri: Address,
  ...described,
  size: z.number().int().nonnegative().nullish().catch(undefined),
});
const WireTemplate = z.object({ uriTemplate: Address, ...described });
const WirePrompt = z.object({
  name: named(200),
  title: text(200),
  description: text(2000),
  arguments: z
    .array(
      z.object({
        name: named(200),
        description: text(1000),
        required: z.boolean().nullish().catch(undefined),
      }),
    )
    .max(50)
    .nullish()
    .transform((list) =>
      (list ?? []).map(({ name, description, required }) => ({
        name,
        description,
        required: required === true,
      })),
    ),
});

/** What one list of a server is asked by and read with; `null` for an entry that cannot be used. */
export interface Listing<T> {
  method: "resources/list" | "resources/templates/list" | "prompts/list";
  /** The field of the answer that holds the entries. */
  field: "resources" | "resourceTemplates" | "prompts";
  /** What the entries are, for people. */
  called: string;
  read(entry: unknown): T | null;
}

export const RESOURCES: Listing<McpResource> = {
  method: "resources/list",
  field: "resources",
  called: "resources",
  read: (entry) => {
    const { data } = WireResource.safeParse(entry);
    return data ? toResource(data.uri, data, data.size ?? null) : null;
  },
};
export const TEMPLATES: Listing<McpResource> = {
  method: "resources/templates/list",
  field: "resourceTemplates",
  called: "resource templates",
  read: (entry) => {
    const { data } = WireTemplate.safeParse(entry);
    return data ? { ...toResource(data.uriTemplate, data, null), is_template: true } : null;
  },
};
export const PROMPTS: Listing<McpPrompt> = {
  method: "prompts/list",
  field: "prompts",
  called: "prompts",
  read: (entry) => {
    const { data } = WirePrompt.safeParse(entry);
    return data
      ? { name: data.name, description: data.description || data.title, arguments: data.arguments }
      : null;
  },
};

function toResource(
  uri: string,
  {
    name,
    title,
    description,
    mimeType,
  }: { name: string; title: string; description: string; mimeType: string },
  size: number | null,
): McpResource {
  return {
    uri,
    name: title || name || uri,
    description,
    mime_type: mimeType || null,
    size,
    is_template: false,
  };
}

/** The tool by which agents read a server's resources; its words are ours, so that it never changes. */
export const readResourceTool = (server: string): McpToolDefinition => ({
  name: READ_RESOURCE,
  description: `Reads a resource of the MCP server "${server}" by its address. Without an address it lists what there is to read.`,
  input_schema: JsonSchema.parse({
    type: "object",
    properties: { uri: { type: "string", maxLength: 2000, description: "The address, as the list has it" } },
    additionalProperties: false,
  }),
  hints: { read_only: true },
});

/** The tool by which agents get a server's prompts. */
export const getPromptTool = (server: string): McpToolDefinition => ({
  name: GET_PROMPT,
  description: `Gets a prompt of the MCP server "${server}", filled in. Without a name it lists which there are and what they take.`,
  input_schema: JsonSchema.parse({
    type: "object",
    properties: {
      name: { type: "string", maxLength: 200, description: "The prompt, as the list has it" },
      arguments: { type: "object", additionalProperties: { type: "string" }, description: "What it takes" },
    },
    additionalProperties: false,
  }),
  hints: { read_only: true },
});

/** A list as an agent gets it: without what says nothing. */
export const asList = (entries: readonly (McpResource | McpPrompt)[]): Json =>
  entries.map((entry) =>
    Object.fromEntries(
      Object.entries(entry).filter(([, value]) => value !== null && value !== "" && value !== false),
    ),
  );

/** Why a resource is not even asked for, or null: its server says that it is too large. */
export const tooLarge = (resource: McpResource | undefined): string | null =>
  resource?.size != null && resource.size > MAX_RESULT_CHARS
    ? `${resource.uri} is ${resource.size} bytes; at most ${MAX_RESULT_CHARS} are read.`
    : null;

const Contents = z.array(
  z.object({
    uri: z.string().catch(""),
    mimeType: z.string().optional().catch(undefined),
    text: z.string().optional().catch(undefined),
    blob: z.string().optional().catch(undefined),
  }),
);

/** The content of a resource. Only text is accepted; anything else is rejected with its type. */
export const ReadAnswer = z.object({ contents: Contents });
export function readOutput(name: string, uri: string, { contents }: z.infer<typeof ReadAnswer>) {
  const [first] = contents;
  if (first && contents.every((part) => part.text === undefined)) {
    const { mimeType = "unknown type", blob = "" } = first;
    const bytes = Math.floor((blob.replace(/={1,2}$/, "").length * 3) / 4);
    return {
      status_code: 400 as const,
      error: `${readable(uri)} is a file of ${bytes} bytes (${readable(mimeType).slice(0, 100)}), not text. It cannot be read here.`,
    };
  }
  return outputOf(name, {
    content: contents.map(({ uri: at, ...resource }) => ({
      type: "resource",
      resource: { uri: at, ...resource },
    })),
  });
}

/** What a prompt gave: its description and its messages, each with whose it is. */
export const PromptAnswer = z.object({
  description: text(2000),
  messages: z.array(
    z.object({
      role: z.enum(["user", "assistant"]).catch("user"),
      content: z.union([ContentBlock, z.array(ContentBlock)]),
    }),
  ),
});
export function promptOutput(name: string, { description, messages }: z.infer<typeof PromptAnswer>) {
  const read: JsonObject[] = [];
  for (const { role, content } of messages) {
    const { output, ...failure } = outputOf(name, { content: Array.isArray(content) ? content : [content] });
    if (output === undefined) return failure;
    read.push({ role, text: output });
  }
  return outputOf(name, {
    content: [],
    structuredContent: { ...(description && { description }), messages: read },
  });
}
