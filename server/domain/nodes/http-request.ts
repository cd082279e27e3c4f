import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { SecretUse } from "@/server/domain/tool/secret";
import { defineNode, NodeFailure, type SchemaParts, toolOutputs } from "./define";
import { renderBody, renderWritten } from "./secret-texts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
/** Which statuses are a success where nobody says otherwise. */
const ANY_SUCCESS = "200-299";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Asks a web address or an HTTP API, through the same door and with the same rules as the tools. */
export const httpRequest = defineNode({
  type: "http_request",
  title: "HTTP request",
  hint: "Calls a URL",
  icon: "globe",
  group: "data",
  config: ({ z, Template, SecretTemplate }: SchemaParts) =>
    z.object({
      method: z.enum(METHODS).default("GET"),
      url: Template.default(""),
      headers: z.record(z.string().max(200), SecretTemplate).default({}),
      query: z.record(z.string().max(200), SecretTemplate).default({}),
      body: SecretTemplate.optional(),
      /** Statuses that count as success: "200-299", "200,404". */
      ok_status: z
        .string()
        .regex(/^\d{3}(-\d{3})?(,\d{3}(-\d{3})?)*$/, "Use codes like 200-299 or 200,404")
        .default(ANY_SUCCESS),
    }),
  fields: [
    {
      key: "method",
      label: "Method",
      as: "choice",
      options: METHODS.map((value) => ({ value, label: value })),
    },
    { key: "url", label: "URL", as: "template", lines: 1, hint: "https://…; type {{ to insert a value" },
    {
      key: "query",
      label: "Query parameters",
      as: "pairs",
      hint: "Added to the URL and encoded automatically",
    },
    {
      key: "headers",
      label: "Headers",
      as: "pairs",
      hint: "Choose secrets with the key; don't enter them here",
    },
    {
      key: "body",
      label: "Body",
      as: "template",
      hint: "JSON or text",
      showIf: (config) => !READS.has(config.method),
    },
    { key: "ok_status", label: "Success status codes", as: "text" },
  ],
  uses: ({ method, url }) => [{ kind: "request", method, url }],
  summary: (config) => (config.url ? `${config.method} ${config.url}` : "No URL yet"),
  newConfig: () => ({ method: "GET" as const, url: "", headers: {}, query: {}, ok_status: ANY_SUCCESS }),
  newNode: () => ({ name: "HTTP request", output_keys: ["response"] }),
  validate: (config) =>
    config.url.trim() === ""
      ? [{ severity: "error", code: "E_HTTP_URL", message: "Enter a URL.", field: "url" }]
      : [],
  templates: (config) => [
    { field: "url", template: config.url },
    ...(config.body === undefined ? [] : [{ field: "body", template: config.body }]),
    ...Object.entries(config.headers).map(([name, template]) => ({ field: `headers.${name}`, template })),
    ...Object.entries(config.query).map(([name, template]) => ({ field: `query.${name}`, template })),
  ],
  secretPlaces: ({ headers, query, body }) => [
    ...Object.entries(headers).map(([name, value]) => ({ field: `headers.${name}`, value })),
    ...Object.entries(query).map(([name, value]) => ({ field: `query.${name}`, value })),
    ...(body === undefined ? [] : [{ field: "body", value: body }]),
  ],
  *run(config, ctx) {
    const secrets: SecretUse[] = [];
    const keep = <T>(under: string[], { value, uses }: { value: T; uses: SecretUse[] }): T => {
      secrets.push(...uses.map(({ at, names }) => ({ at: [...under, ...at], names })));
      return value;
    };
    const rendered = (record: Readonly<Record<string, string>>, under: string) =>
      Object.fromEntries(
        Object.entries(record).map(([name, text]) => [name, keep([under, name], renderWritten(text, ctx))]),
      );
    const url = withQuery(ctx.render(config.url).trim(), rendered(config.query, "url"));
    const args: JsonObject = {
      url,
      method: config.method,
      headers: rendered(config.headers, "headers"),
      ...defined({
        body:
          config.body === undefined || READS.has(config.method)
            ? undefined
            : keep(["body"], renderBody(config.body, ctx, bodyOf)),
      }),
    };
    const output = yield* ctx.tool(READS.has(config.method) ? "http_request" : "http_write", args, secrets);
    const status = isObject(output) ? output.status : undefined;
    if (typeof status === "number" && !isOk(status, config.ok_status))
      throw new NodeFailure("TOOL_FAILED", `${config.method} ${url} answered ${status}.`, {
        retryable: status === 429 || status >= 500,
        user_action: "retry",
      });
    return { output: toolOutputs(output, ctx.node.output_keys) };
  },
});

/** JSON where the text is JSON, else the text. */
function bodyOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  if (Object.keys(query).length === 0) return address;
  if (!URL.canParse(address)) throw new NodeFailure("CONFIG", `“${address}” isn't a valid URL.`);
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function isOk(status: number, ranges: string): boolean {
  return ranges.split(",").some((range) => {
    const [from = Number.NaN, to = from] = range.split("-").map(Number);
    return status >= from && status <= to;
  });
}
