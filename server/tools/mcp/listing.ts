import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { isList } from "@/server/domain/base/guards";
import { signInBehind } from "./challenge";
import { type McpToolDefinition, readDefinition } from "./definition";
import { MCP_LIMITS } from "./limits";
import {
  getPromptTool,
  type Listing,
  type McpPrompt,
  type McpResource,
  PROMPTS,
  RESOURCES,
  readResourceTool,
  TEMPLATES,
} from "./offers";

const loadLibrary = () => import("./library");

/** A page of a list. Entries are parsed one by one: an invalid one doesn't affect the others. */
const Page = z.looseObject({
  nextCursor: z
    .string()
    .nullish()
    .transform((cursor) => cursor ?? undefined),
});

/** What a server has to offer, with what of it cannot be offered and why. */
interface McpOffers {
  definitions: McpToolDefinition[];
  resources: McpResource[];
  prompts: McpPrompt[];
  problems: string[];
}

/** Lists everything that a server offers. `name`: its name here. */
export async function listOffers(client: Client, name: string): Promise<McpOffers> {
  const { tools, resources: hasResources, prompts: hasPrompts } = client.getServerCapabilities() ?? {};
  const problems: string[] = [];
  // A server without declared capabilities is still asked for tools: some have them.
  const found = tools || !(hasResources || hasPrompts) ? await listTools(client, problems) : [];
  const resources = hasResources
    ? [...(await listOf(client, RESOURCES, problems)), ...(await listOf(client, TEMPLATES, problems))].slice(
        0,
        MCP_LIMITS.entries,
      )
    : [];
  const prompts = hasPrompts ? await listOf(client, PROMPTS, problems) : [];
  const definitions = [
    ...found,
    ...(resources.length > 0 ? [readResourceTool(name)] : []),
    ...(prompts.length > 0 ? [getPromptTool(name)] : []),
  ];
  return { definitions, resources, prompts, problems: problems.slice(0, 50) };
}

async function listTools(client: Client, problems: string[]): Promise<McpToolDefinition[]> {
  const found: McpToolDefinition[] = [];
  const names = new Set<string>();
  for (const tool of await pagesOf(client, "tools/list", "tools", problems)) {
    const read = readDefinition(tool);
    if ("error" in read) problems.push(read.error);
    else if (names.has(read.value.name)) problems.push(`"${read.value.name}" is listed twice.`);
    else if (found.length >= MCP_LIMITS.tools)
      problems.push(`"${read.value.name}" was left out: the server has more than ${MCP_LIMITS.tools} tools.`);
    else {
      names.add(read.value.name);
      found.push(read.value);
    }
  }
  return found;
}

/** All entries of a list, page by page, unread. */
async function pagesOf(
  client: Client,
  method: "tools/list" | Listing<unknown>["method"],
  field: string,
  problems: string[],
): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page === 0 || (cursor !== undefined && page < MCP_LIMITS.pages); page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method, params }, Page, { timeout: MCP_LIMITS.listMs });
    const entries = answer[field];
    if (!isList(entries)) throw new Error(`Its response to ${method} contains no list.`);
    all.push(...entries);
    cursor = answer.nextCursor;
  }
  if (cursor !== undefined)
    problems.push(`The list of ${field} has more than ${MCP_LIMITS.pages} pages; the rest was left out.`);
  return all;
}

/** Lists resources or prompts. A list that can't be read is reported and affects nothing else. */
async function listOf<T>(client: Client, listing: Listing<T>, problems: string[]): Promise<T[]> {
  const { method, field, called, read } = listing;
  let entries: unknown[];
  try {
    entries = await pagesOf(client, method, field, problems);
  } catch (error) {
    const { isUnknownMethod, statusOf, describeError } = await loadLibrary();
    if (statusOf(error) === 503 || signInBehind(error)) throw error;
    // Many have resources and no templates, and do not know the question.
    if (!isUnknownMethod(error)) problems.push(`Its ${called} can't be listed: ${describeError(error)}`);
    return [];
  }
  const good = entries.flatMap((entry) => read(entry) ?? []);
  const odd = entries.length - good.length;
  if (odd > 0) problems.push(`${odd} of its ${called} are invalid.`);
  if (good.length > MCP_LIMITS.entries)
    problems.push(`It has ${good.length} ${called}; only the first ${MCP_LIMITS.entries} were kept.`);
  return good.slice(0, MCP_LIMITS.entries);
}
