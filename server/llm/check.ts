import "server-only";
import { z } from "zod";
import { OFFLINE, type Provider } from "@/server/domain/provider";
import { providerFetch } from "@/server/egress/fetch";
import { type Callee, classifyNetworkError, classifyServerError, notAnAnswer } from "./errors";
import { ModelError } from "./model";
import { callOnce, ServerRefusal } from "./openai";
import { WIRE_LIMITS } from "./wire";

export interface CheckResult {
  ok: boolean;
  /** A sentence for people: that it works, or what is wrong and what to do. */
  message: string;
  models: string[];
  latency_ms: number;
}
export type Checked = Pick<Provider, "name" | "kind" | "base_url" | "default_model"> & { key: string | null };

const LIST_MS = 8_000;
const ANSWER_MS = 60_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
const MAX_MODELS = 2_000;

/** Tries a provider as a run would use it: its list of models, then one tiny answer. */
export async function checkProvider(
  checked: Checked,
  fetch: typeof globalThis.fetch = providerFetch,
): Promise<CheckResult> {
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  if (checked.kind === "offline")
    return {
      ok: true,
      message: "The demo model is built in. It answers by rules and needs no network.",
      models: [OFFLINE.model],
      latency_ms: 0,
    };
  let models: string[] = [];
  try {
    models = await listModels(checked, fetch).catch((error: unknown) => {
      // Not every service lists its models; what counts is whether it answers.
      if (
        error instanceof ModelError &&
        error.http_status !== undefined &&
        [403, 404, 405, 501].includes(error.http_status)
      )
        return [];
      throw error;
    });
    if (!checked.default_model)
      return {
        ok: models.length > 0,
        message:
          models.length > 0 ? `${count(models)} found. Choose one of them.` : "Enter the name of a model.",
        models,
        latency_ms: since(),
      };
    if (models.length > 0 && !isListed(checked.default_model, models))
      return {
        ok: false,
        message: `The service answers, but it has no model called “${checked.default_model}”.${nearest(checked.default_model, models)}`,
        models,
        latency_ms: since(),
      };
    const asked = performance.now();
    await tinyAnswer(checked, fetch);
    const seconds = ((performance.now() - asked) / 1000).toFixed(1);
    return {
      ok: true,
      message: `It works: ${checked.default_model} answered in ${seconds} s.`,
      models,
      latency_ms: since(),
    };
  } catch (error) {
    const known = error instanceof ModelError ? error : classifyNetworkError(error, calleeOf(checked));
    const better =
      known.http_status === 404 || known.http_status === undefined
        ? await elsewhere(checked, known, fetch)
        : null;
    return { ok: false, message: better ?? known.message, models, latency_ms: since() };
  }
}

const count = (models: readonly string[]) => (models.length === 1 ? "One model" : `${models.length} models`);
const calleeOf = ({ name, base_url, default_model, key }: Checked): Callee => ({
  provider: name || "The service",
  base_url,
  model: default_model || "the model",
  key,
});

const ModelList = z.object({ data: z.array(z.object({ id: z.string() }).loose()).max(100_000) });

/** The names of a service's models. Throws a ModelError that says what is wrong. */
export async function listModels(
  checked: Checked,
  fetch: typeof globalThis.fetch = providerFetch,
): Promise<string[]> {
  if (checked.kind === "offline") return [OFFLINE.model];
  const callee = calleeOf(checked);
  const { status, headers, text } = await getText(
    `${checked.base_url}/models`,
    checked.key,
    LIST_MS,
    fetch,
  ).catch((error: unknown) => {
    throw classifyNetworkError(error, callee);
  });
  if (status < 200 || status >= 300) {
    const body = errorBody(text);
    throw classifyServerError(
      { status, code: body.code, type: body.type, param: "", message: body.message, headers },
      callee,
    );
  }
  if (/html/i.test(headers.get("content-type") ?? "") || /^\s*</.test(text))
    throw notAnAnswer(callee, "a web page");
  const list = ModelList.safeParse(parse(text));
  if (!list.success) throw notAnAnswer(callee, "something else");
  return list.data.data
    .map(({ id }) => id.replace(/^models\//, ""))
    .slice(0, MAX_MODELS)
    .sort();
}

async function getText(url: string, key: string | null, ms: number, fetch: typeof globalThis.fetch) {
  const response = await fetch(url, {
    headers: { accept: "application/json", ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    signal: AbortSignal.timeout(ms),
    redirect: "manual",
  });
  return { status: response.status, headers: response.headers, text: await limitedText(response) };
}

async function limitedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    bytes += piece.value.byteLength;
    if (bytes > MAX_LIST_BYTES) {
      await reader?.cancel();
      break;
    }
    parts.push(piece.value);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const ErrorBody = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.unknown(), code: z.unknown(), type: z.unknown() }).partial(),
  ]),
});

function errorBody(text: string): { message: string; code: string; type: string } {
  const parsed = ErrorBody.safeParse(parse(text));
  if (!parsed.success) return { message: /^\s*</.test(text) ? "" : text.slice(0, 300), code: "", type: "" };
  const { error } = parsed.data;
  const word = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? String(value) : "";
  return typeof error === "string"
    ? { message: error, code: "", type: "" }
    : { message: word(error.message), code: word(error.code), type: word(error.type) };
}

async function tinyAnswer(checked: Checked, fetch: typeof globalThis.fetch): Promise<void> {
  const provider: Provider = {
    ...checked,
    id: "checked",
    has_key: checked.key !== null,
    key_hint: null,
    is_default: false,
    simulated: false,
    from_environment: false,
    settings: {},
  };
  const request = {
    llm_config: {},
    messages: [{ role: "user" as const, content: "Answer with the word OK." }],
    call_id: "check",
    run_id: "check",
  };
  const limits = { ...WIRE_LIMITS, firstByteMs: ANSWER_MS, totalMs: ANSWER_MS };
  const once = (stream_usage: boolean) =>
    callOnce(
      {
        provider,
        key: checked.key,
        model: checked.default_model,
        request,
        capability: { stream_usage },
        fetch,
        limits,
      },
      { signal: new AbortController().signal, delta: () => undefined },
    );
  try {
    await once(false);
  } catch (error) {
    throw error instanceof ServerRefusal ? error.asModelError : error;
  }
}

const plain = (name: string) => name.toLowerCase().replace(/:latest$/, "");
const isListed = (model: string, models: readonly string[]) =>
  models.some((name) => plain(name) === plain(model));

function nearest(model: string, models: readonly string[]): string {
  const head = plain(model).split(/[-:/.]/)[0] ?? "";
  const like = models.filter((name) => head.length > 1 && plain(name).includes(head)).slice(0, 3);
  const shown = like.length > 0 ? like : models.slice(0, 3);
  return ` It has, for example: ${shown.join(", ")}.`;
}

/** Whether the same service answers at the address with /v1, which is often forgotten. */
async function elsewhere(
  checked: Checked,
  error: ModelError,
  fetch: typeof globalThis.fetch,
): Promise<string | null> {
  const isAddressTrouble = error.error.code === "CONFIG" || error.http_status === 404;
  if (!isAddressTrouble || /\/v\d+\w*$/.test(checked.base_url)) return null;
  const address = `${checked.base_url}/v1`;
  const found = await listModels({ ...checked, base_url: address }, fetch).then(
    () => true,
    (other: unknown) => other instanceof ModelError && other.http_status === 401,
  );
  return found
    ? `There is no model service at ${checked.base_url}, but there is one at ${address}. Use that address.`
    : null;
}

const OLLAMA_URL = "http://127.0.0.1:11434";
const OLLAMA_MS = 300;
const OllamaTags = z.object({ models: z.array(z.object({ name: z.string() })) });

/** Looks for Ollama on its usual port. It is only ever offered, never used unasked. */
export async function findOllama(
  fetch: typeof globalThis.fetch = providerFetch,
  address = OLLAMA_URL,
): Promise<{ base_url: string; models: string[] } | null> {
  try {
    const version = await getText(`${address}/api/version`, null, OLLAMA_MS, fetch);
    if (
      version.status !== 200 ||
      typeof (parse(version.text) as { version?: unknown } | null)?.version !== "string"
    )
      return null;
    const tags = await getText(`${address}/api/tags`, null, OLLAMA_MS, fetch);
    const models = OllamaTags.safeParse(parse(tags.text));
    return {
      base_url: `${address}/v1`,
      models: models.success ? models.data.models.map(({ name }) => name).slice(0, 200) : [],
    };
  } catch {
    return null;
  }
}
