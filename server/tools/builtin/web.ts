import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { Json } from "@/server/domain/base/values";
import { EGRESS_LIMITS, EgressError, type PublicFetch, type PublicFetchOptions } from "@/server/egress/fetch";
import { defineTool, ToolFailure, type ToolInterface, type ToolScope } from "../define";
import { type OpenSecret, type RequestArguments, withSecrets } from "../secrets";
import { DEMO_NOTE, demoPage } from "./demo-corpus";

const USER_AGENT = "Troupe";
/** What of a response's head a model may see; cookies and the like stay away from transcripts. */
const SHOWN_HEADERS = [
  "content-type",
  "content-length",
  "content-language",
  "date",
  "last-modified",
  "etag",
  "expires",
  "location",
  "link",
  "retry-after",
  "x-total-count",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];
/** These belong to the connection, or say who is asking. */
const FORBIDDEN_HEADERS =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|origin|referer|forwarded|via|cookie2?|(proxy|sec|x-forwarded)-.*|x-real-ip)$/i;

const Url = z.string().min(1).max(4_000).describe("A URL that begins with https:// or http://");
const Headers = z
  .record(
    z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "Not a valid header name"),
    z
      .string()
      .max(4_000)
      .regex(/^[\t\x20-\x7e]*$/, "Use only printable ASCII characters, on one line"),
  )
  .refine((headers) => Object.keys(headers).length <= 30, "At most 30 headers")
  .default({});

type Answer = Awaited<ReturnType<PublicFetch>>;
type Request = Omit<NonNullable<Parameters<PublicFetch>[1]>, "headers"> & {
  headers?: Record<string, string>;
};

export interface WebDeps {
  /** The door to the internet, `publicFetch` of server/egress. */
  fetch: PublicFetch;
  /** Absent on workers: the server makes the calls that use secrets. */
  openSecret?: OpenSecret | undefined;
}

/** Requests to the internet. Every response is untrusted content, so all of them taint. */
export function webTools({ fetch, openSecret }: WebDeps): ToolInterface[] {
  return [...requestTools(fetch, openSecret), browseUrl(fetch)];
}

function requestTools(fetch: PublicFetch, openSecret: OpenSecret | undefined): ToolInterface[] {
  /** Sends the request that `read` makes from the arguments. Secrets are filled in once the host is known. */
  const request = <A extends RequestArguments>(
    args: A,
    read: (args: A) => Request & { url: string },
    scope: ToolScope,
    options: PublicFetchOptions = {},
  ) => {
    if (!scope.secrets?.length) return sent(fetch, read(args), scope, options);
    const complete = (host: string) => {
      const { url, ...init } = read(withSecrets(args, host, scope, openSecret));
      return { url, init: { ...withAgent(init), signal: scope.signal } };
    };
    return sent(fetch, read(args), scope, { ...options, complete });
  };
  return [
    defineTool({
      name: "http_request",
      description:
        "Reads from a URL or an HTTP API. Returns the status, some headers and the body: JSON as JSON, other text as text.",
      input: z.object({ url: Url, method: z.enum(["GET", "HEAD"]).default("GET"), headers: Headers }),
      source: "builtin",
      home: "worker",
      // Reading, but at an address and with headers of the model's choice.
      risk: "MEDIUM",
      read_only: true,
      idempotent: true,
      taints: true,
      sink: true,
      ways_out: { places: ["url"] },
      timeout_ms: EGRESS_LIMITS.toolMs,
      async execute(args, scope) {
        const read = ({ url, method, headers }: typeof args) => ({
          url,
          method,
          headers: checkedHeaders(headers),
        });
        return shownResponse(await request(args, read, scope));
      },
    }),
    defineTool({
      name: "http_write",
      description:
        "Sends data to an HTTP API: POST, PUT, PATCH or DELETE. It has side effects and cannot be undone here.",
      input: z.object({
        url: Url,
        method: z.enum(["POST", "PUT", "PATCH", "DELETE"]).default("POST"),
        headers: Headers,
        body: Json.optional().describe("Strings are sent unchanged, everything else as JSON"),
      }),
      source: "builtin",
      home: "worker",
      risk: "HIGH",
      destructive: true,
      taints: true,
      sink: true,
      ways_out: { places: ["url"] },
      timeout_ms: EGRESS_LIMITS.toolMs,
      async execute(args, scope) {
        // Whoever agreed to this call agreed to this site.
        const response = await request(args, (one) => writeRequest(one, scope), scope, { sameOrigin: true });
        return shownResponse(response);
      },
    }),
  ];
}

function writeRequest(
  { url, method, headers, body }: RequestArguments & { method: string; body?: Json | undefined },
  scope: ToolScope,
) {
  const checked = checkedHeaders(headers);
  const isSet = (name: string) => Object.keys(checked).some((key) => key.toLowerCase() === name);
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const own = {
    ...defined({
      "content-type":
        text === undefined || isSet("content-type")
          ? undefined
          : typeof body === "string"
            ? "text/plain; charset=utf-8"
            : "application/json",
    }),
    // Services that know this header execute a repeated attempt once.
    ...defined({
      "idempotency-key": isSet("idempotency-key") ? undefined : scope.idempotencyKey,
      "original-idempotency-key":
        scope.originalKey === undefined || isSet("original-idempotency-key") ? undefined : scope.originalKey,
    }),
  };
  return { url, method, headers: { ...checked, ...own }, ...defined({ body: text }) };
}

function browseUrl(fetch: PublicFetch): ToolInterface {
  const browse = defineTool({
    name: "browse_url",
    description: "Opens a web page and returns its title and readable text, with the URLs of its links.",
    input: z.object({ url: Url }),
    source: "builtin",
    home: "worker",
    risk: "LOW",
    read_only: true,
    idempotent: true,
    taints: true,
    sink: true,
    ways_out: { places: ["url"] },
    timeout_ms: EGRESS_LIMITS.toolMs,
    async execute({ url }, scope): Promise<Json> {
      // Pages that the demo's searches name are nowhere else.
      const demo = demoPage(url);
      if (demo) return { url, status: 200, title: demo.title, text: demo.text, note: DEMO_NOTE };
      if (demo === undefined) throw new ToolFailure(404, "The offline demo has no such page.");
      const headers = { accept: "text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.5" };
      const response = await sent(fetch, { url, headers }, scope);
      const type = mediaType(response);
      if (!isText(type)) {
        await response.body?.cancel();
        throw new ToolFailure(
          400,
          `The URL returned ${type || "an unknown content type"}, not a readable page.`,
        );
      }
      const body = await textOf(response);
      const page = /html/.test(type) ? await readPage(body, response.url) : { title: "", text: body };
      return { url: response.url, status: response.status, ...page };
    },
  });
  return {
    ...browse,
    async execute(args, scope) {
      const output = await browse.execute(args, scope);
      return demoPage(String(recordOf(args).url)) === null ? output : { ...output, simulated: true };
    },
  };
}

/** One request through the door; what the door or the network refuses becomes a failure with a status of its own. */
async function sent(
  fetch: PublicFetch,
  { url, ...init }: Request & { url: string },
  scope: ToolScope,
  options?: PublicFetchOptions,
): Promise<Answer> {
  try {
    return await fetch(url, { ...withAgent(init), signal: scope.signal }, options);
  } catch (error) {
    throw toFailure(error, scope);
  }
}

const withAgent = (init: Request) => ({ ...init, headers: { "user-agent": USER_AGENT, ...init.headers } });

const STATUS_OF: Readonly<Record<EgressError["code"], 400 | 403 | 413>> = {
  BAD_URL: 400,
  ADDRESS_REFUSED: 403,
  REDIRECT_REFUSED: 403,
  TOO_MANY_REDIRECTS: 400,
  RESPONSE_TOO_LARGE: 413,
};

/** What went wrong with a request, as a tool says it. An abort stays an abort. */
export function toFailure(error: unknown, scope: ToolScope): unknown {
  if (scope.signal.aborted || error instanceof ToolFailure) return error;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof EgressError) return new ToolFailure(STATUS_OF[cause.code], cause.message);
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      return new ToolFailure(503, `Can't find host${hostIn(cause)}. Check the address.`);
    if (/^(?:E[A-Z]+$|UND_ERR_|CERT_)|_CERT/.test(code))
      return new ToolFailure(503, `The host cannot be reached (${code}).`);
  }
  return error;
}

/** The host that a lookup did not find, with a space before it. */
const hostIn = (error: Error): string =>
  "hostname" in error && typeof error.hostname === "string" ? ` ${error.hostname}` : "";

function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const forbidden = Object.keys(headers).find((name) => FORBIDDEN_HEADERS.test(name));
  if (forbidden) throw new ToolFailure(400, `The header ${forbidden} cannot be set here.`);
  return headers;
}

const mediaType = (response: Answer) =>
  (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
const isText = (type: string) =>
  type === "" || /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson|graphql)$/.test(type);

/** The body in the charset that its head names; UTF-8 where that says nothing. */
export async function textOf(response: Answer): Promise<string> {
  const bytes = await bodyOf(response);
  const charset =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(response.headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

async function bodyOf(response: Answer): Promise<ArrayBuffer> {
  try {
    return await response.arrayBuffer();
  } catch (error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof EgressError) throw new ToolFailure(STATUS_OF[cause.code], cause.message);
    throw error;
  }
}

async function shownResponse(response: Answer): Promise<Json> {
  const headers = Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const head = { url: response.url, status: response.status, headers };
  const type = mediaType(response);
  if (!isText(type)) {
    const { byteLength } = await bodyOf(response);
    return { ...head, body: null, note: `${byteLength} bytes of ${type}, which is not text.` };
  }
  const text = await textOf(response);
  return { ...head, body: /json$/.test(type) ? readJson(text) : text };
}

/** JSON that is safe to walk, or the text. */
export function readJson(text: string): Json {
  if (jsonTextProblem(text) !== null) return text;
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return text;
  }
}

const SKIPPED = [
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "iframe",
  "form",
  "nav",
  "footer",
  "aside",
  "[hidden]",
  '[aria-hidden="true"]',
];

/** Max characters read of a page, and max nesting of its elements: parsing time grows with the square of the depth. */
const PAGE_LIMITS = { length: 1_000_000, depth: 3_000 } as const;

/**
 * A page as text: its main part where it names one, without what is there for browsing or is not shown. Throws
 * ToolFailure(413) for a page that is nested too deep to be one.
 */
export async function readPage(html: string, url: string): Promise<{ title: string; text: string }> {
  const page = html.slice(0, PAGE_LIMITS.length);
  if (depthOf(page) > PAGE_LIMITS.depth)
    throw new ToolFailure(413, `The page is nested deeper than ${PAGE_LIMITS.depth} elements.`);
  const [, title = ""] = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(page) ?? [];
  const absolute = (href: string) => (URL.canParse(href, url) ? new URL(href, url).href : href);
  const { compile } = await import("html-to-text");
  const convert = compile({
    wordwrap: false,
    baseElements: { selectors: ["main", "article"], returnDomByDefault: true },
    limits: {
      maxInputLength: EGRESS_LIMITS.publicBytes,
      maxDepth: 200,
      maxChildNodes: 20_000,
      ellipsis: "…",
    },
    selectors: [
      ...SKIPPED.map((selector) => ({ selector, format: "skip" })),
      { selector: "img", format: "skip" },
      {
        selector: "a",
        options: { pathRewrite: absolute, hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
      },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ],
  });
  const plain = compile({ wordwrap: false });
  return {
    title: plain(title).trim(),
    text: convert(page)
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
  };
}

/** The max nesting of a page's elements; elements without an end tag count as open. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, slash] of html.matchAll(
    /<(\/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|t[drh]|option|d[td])\b)[a-z]/gi,
  )) {
    depth = slash ? Math.max(0, depth - 1) : depth + 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
