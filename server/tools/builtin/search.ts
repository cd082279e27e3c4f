import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Json } from "@/server/domain/base/values";
import type { SearchBackend, SearchPurpose } from "@/server/domain/tool/search-backend";
import type { providerFetch } from "@/server/egress/fetch";
import { defineTool, ToolFailure, type ToolInterface, type ToolScope } from "../define";
import { DEMO_NOTE, searchDemo } from "./demo-corpus";
import { readJson, toFailure } from "./web";

export interface SearchDeps {
  /** What to search with; null: nothing is configured. */
  backendFor(purpose: SearchPurpose): SearchBackend | null;
  /** The door to services that the operator entered, `providerFetch` of server/egress: with keys, without redirects. */
  fetch: typeof providerFetch;
}

interface Found {
  title: string;
  url: string;
  text: string;
}

const NOT_CONFIGURED: Readonly<Record<SearchPurpose, string>> = {
  web: "Web search is not configured. Enter a SearXNG address or a Brave key in the settings of tools.",
  code: "Code search is not configured. Enter a GitHub token in the settings of tools.",
};
const TEXT_LENGTH = 600;
const TIMEOUT_MS = 15_000;

/** web_search and code_search, over whatever is configured at the time of the call. */
export function searchTools(deps: SearchDeps): ToolInterface[] {
  return [
    searchTool(deps, "web", {
      name: "web_search",
      description: "Searches the web. Returns titles, URLs and excerpts; open a page with browse_url.",
    }),
    searchTool(deps, "code", {
      name: "code_search",
      description:
        "Searches source code in public repositories. Returns files, their URLs and matching lines.",
    }),
  ];
}

function searchTool(
  deps: SearchDeps,
  purpose: SearchPurpose,
  query: { name: string; description: string },
): ToolInterface {
  const input = z.object({
    query: z.string().trim().min(1).max(400),
    count: z.number().int().min(1).max(20).default(5),
  });
  const backend = () => {
    const found = deps.backendFor(purpose);
    if (!found) throw new ToolFailure(503, NOT_CONFIGURED[purpose]);
    return found;
  };
  /** A key that cannot be opened must not take the list of all tools down with it. */
  const unavailable = (): string | null => {
    try {
      backend();
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : NOT_CONFIGURED[purpose];
    }
  };
  const tool = defineTool({
    ...query,
    input,
    source: "builtin",
    risk: "LOW",
    read_only: true,
    idempotent: true,
    taints: true,
    sink: true,
    // The admin chooses the service; the model chooses the query.
    ways_out: { words: ["query"] },
    timeout_ms: TIMEOUT_MS,
    execute: async ({ query, count }, scope) => ({
      query,
      ...defined({ note: backend().kind === "demo" ? DEMO_NOTE : undefined }),
      results: (await search(backend(), { purpose, query, count }, deps.fetch, scope)).map((result) => ({
        ...result,
      })),
    }),
  });
  return {
    ...tool,
    // People enter and remove services while the server runs.
    get spec() {
      const reason = unavailable();
      return reason === null ? tool.spec : { ...tool.spec, unavailable: reason };
    },
    async execute(args, scope) {
      const simulated = deps.backendFor(purpose)?.kind === "demo";
      const output = await tool.execute(args, scope);
      return simulated ? { ...output, simulated } : output;
    },
  };
}

async function search(
  backend: SearchBackend,
  { purpose, query, count }: { purpose: SearchPurpose; query: string; count: number },
  fetch: SearchDeps["fetch"],
  scope: ToolScope,
): Promise<Found[]> {
  const { base_url, key } = backend;
  const queryString = (params: Record<string, string>) => new URLSearchParams(params).toString();
  const ask = (path: string, headers: Record<string, string>) =>
    answerOf(fetch, { url: `${base_url}${path}`, headers, kind: backend.kind }, scope);
  switch (backend.kind) {
    case "demo":
      return searchDemo(purpose, query, count);
    case "searxng": {
      const answer = await ask(`/search?${queryString({ q: query, format: "json" })}`, {});
      return listOf(answer, "results")
        .slice(0, count)
        .map((hit) => found(hit.title, hit.url, hit.content));
    }
    case "brave": {
      const answer = await ask(`/res/v1/web/search?${queryString({ q: query, count: String(count) })}`, {
        "x-subscription-token": key ?? "",
      });
      return listOf(objectOf(answer).web ?? null, "results")
        .slice(0, count)
        .map((hit) => found(hit.title, hit.url, hit.description));
    }
    case "github": {
      const answer = await ask(`/search/code?${queryString({ q: query, per_page: String(count) })}`, {
        accept: "application/vnd.github.text-match+json",
        "x-github-api-version": "2022-11-28",
        ...defined({ authorization: key === null ? undefined : `Bearer ${key}` }),
      });
      return listOf(answer, "items")
        .slice(0, count)
        .map((hit) => {
          const repository = textIn(objectOf(hit.repository ?? null).full_name);
          const lines = listOf(hit, "text_matches").map((match) => textIn(match.fragment));
          return found(`${repository}: ${textIn(hit.path)}`, hit.html_url, lines.join("\n…\n"));
        });
    }
  }
}

async function answerOf(
  fetch: SearchDeps["fetch"],
  { url, headers, kind }: { url: string; headers: Record<string, string>; kind: SearchBackend["kind"] },
  scope: ToolScope,
): Promise<Json> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json", "user-agent": "Troupe", ...headers },
      signal: scope.signal,
    });
    const body = await response.text();
    if (response.ok) return readJson(body);
    throw refusalOf(response, kind);
  } catch (error) {
    throw toFailure(error, scope);
  }
}

/** Explains a service's rejection to an agent; never in the service's words, which may repeat the key. */
function refusalOf({ status, headers }: Response, kind: SearchBackend["kind"]): ToolFailure {
  const wait = headers.get("retry-after");
  if (status === 429 || (status === 403 && (wait !== null || headers.get("x-ratelimit-remaining") === "0")))
    return new ToolFailure(
      429,
      `The search service asks to wait${wait && /^\d+$/.test(wait) ? ` ${wait} s` : ""} before the next search.`,
    );
  if (status === 403 && kind === "searxng")
    return new ToolFailure(
      503,
      "The SearXNG server does not return JSON. Its operator must add json to search.formats in its settings.yml.",
    );
  if (status === 401 || status === 403)
    return new ToolFailure(503, "The search service rejected the key. Enter it again in the tool settings.");
  if (status === 400 || status === 422)
    return new ToolFailure(400, "The search service cannot read this query.");
  return new ToolFailure(503, `The search service answered with ${status}.`);
}

const objectOf = (value: Json): Readonly<Record<string, Json>> =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const textIn = (value: Json | undefined) => (typeof value === "string" ? value : "");

/** The objects of a list in a service's response. */
function listOf(answer: Json, key: string): Readonly<Record<string, Json>>[] {
  const list = objectOf(answer)[key];
  return Array.isArray(list) ? list.map(objectOf) : [];
}

const found = (title: Json | undefined, url: Json | undefined, text: Json | undefined): Found => ({
  title: plain(textIn(title)).slice(0, 300).toWellFormed(),
  url: textIn(url).slice(0, 2_000),
  text: plain(textIn(text)).slice(0, TEXT_LENGTH).toWellFormed(),
});

/** Services mark the words they found with tags. */
const plain = (text: string) => text.replace(/<\/?(strong|em|b|mark)>/g, "");
