import { defined } from "@/server/domain/base/defined";
import "server-only";
import { z } from "zod";
import { type Capability, type ModelFacts, OFFLINE, type Provider } from "@/server/domain/model/provider";
import { providerFetch } from "@/server/egress/fetch";
import { ModelError } from "../model";
import {
  type Callee,
  classifyNetworkError,
  classifyServerError,
  notAnAnswer,
  refusalOf,
} from "../openai/errors";
import { type ListedModel, readModelList, readOllamaDescription, readOllamaLoaded } from "./model-list";
import { probeModel } from "./probe";

export interface CheckResult {
  ok: boolean;
  /** A sentence for people: that it works, or what is wrong and what to do. */
  message: string;
  /** Findings about the model, a sentence each. */
  found: string[];
  models: string[];
  latency_ms: number;
}
export type Checked = Pick<Provider, "name" | "kind" | "base_url" | "default_model"> & {
  key: string | null;
  headers?: Readonly<Record<string, string>>;
  settings?: Provider["settings"];
};
/** The results of a check to store. */
export interface Findings {
  /** What the service reports about its models; absent if it gave no list. */
  reported?: Record<string, ModelFacts>;
  /** What the model was seen to do; absent if it didn't answer. */
  learned?: { model: string; capability: Capability };
}

const LIST_MS = 8_000;
const DESCRIBE_MS = 2_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** How many models Ollama is asked to describe, because its list has only names. */
const MAX_DESCRIBED = 20;

/** Tries a provider as a run would use it: its list of models, then a few tiny questions. */
export async function checkProvider(
  checked: Checked,
  fetch: typeof globalThis.fetch = providerFetch,
): Promise<CheckResult & { findings: Findings }> {
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  if (checked.kind === "offline")
    return {
      ok: true,
      message: "The demo model is built in. It follows scripts and needs no network.",
      found: [],
      models: [OFFLINE.model],
      latency_ms: 0,
      findings: {},
    };
  let models: string[] = [];
  const findings: Findings = {};
  const result = (ok: boolean, message: string, found: string[] = []) => ({
    ok,
    message,
    found,
    models,
    latency_ms: since(),
    findings,
  });
  try {
    const listed = await describeModels(checked, fetch).catch((error: unknown) => {
      // Not every service lists its models; what counts is whether it answers.
      if (
        error instanceof ModelError &&
        error.http_status !== undefined &&
        [403, 404, 405, 501].includes(error.http_status)
      )
        return null;
      throw error;
    });
    models = listed?.models.map(({ name }) => name) ?? [];
    if (listed) findings.reported = factsByName(listed.models);
    const model = checked.default_model;
    if (!model)
      return models.length > 0
        ? result(
            true,
            models.length === 1 ? "The service responds." : `Found ${models.length} models. Choose one.`,
          )
        : result(false, "Enter a model name.");
    if (models.length > 0 && !isListed(model, models))
      return result(false, `The service responds, but has no model “${model}”.${nearest(model, models)}`);
    const isOllama = listed?.isOllama ?? false;
    const probed = await probeModel(checked, findings.reported?.[model] ?? {}, fetch, () =>
      isOllama ? loadedWindow(checked, fetch) : Promise.resolve(undefined),
    );
    findings.learned = { model, capability: probed.capability };
    const seconds = (probed.answer_ms / 1000).toFixed(1);
    return result(true, `It works: ${model} answered in ${seconds} s.`, probed.found);
  } catch (error) {
    const known = error instanceof ModelError ? error : classifyNetworkError(error, calleeOf(checked));
    const better =
      known.http_status === 404 || known.http_status === undefined
        ? await suggestV1Address(checked, known, fetch)
        : null;
    return result(false, better ?? known.message);
  }
}

/** What the service reports about each model, by name; models without any facts are left out. */
export const factsByName = (models: readonly ListedModel[]): Record<string, ModelFacts> =>
  Object.fromEntries(
    models.flatMap(({ name, facts }) => (Object.keys(facts).length > 0 ? [[name, facts]] : [])),
  );

const calleeOf = ({ name, base_url, default_model, key }: Checked): Callee => ({
  provider: name || "The service",
  base_url,
  model: default_model || "the model",
  key,
});

/** A service's models, and what it reports about them. Throws a ModelError that says what is wrong. */
export async function describeModels(
  checked: Checked,
  fetch: typeof globalThis.fetch = providerFetch,
): Promise<{ models: ListedModel[]; isOllama: boolean }> {
  const list = await listModels(checked, fetch);
  if (!list.isOllama) return list;
  // The chosen model first, because not all may be described.
  const wanted = list.models.toSorted((a, b) => Number(isAsked(b)) - Number(isAsked(a)));
  for (const model of wanted.slice(0, MAX_DESCRIBED))
    model.facts = await getText(`${ollamaRoot(checked)}/api/show`, {
      own: headersFor(checked),
      ms: DESCRIBE_MS,
      fetch,
      body: { model: model.name },
    }).then(
      ({ text }) => readOllamaDescription(parse(text)),
      () => ({}),
    );
  return list;

  function isAsked({ name }: ListedModel): boolean {
    return plain(name) === plain(checked.default_model);
  }
}

const ollamaRoot = ({ base_url }: Checked) => base_url.replace(/\/v1$/, "");

/** The context window that Ollama gives the model it has just loaded. */
const loadedWindow = (checked: Checked, fetch: typeof globalThis.fetch): Promise<number | undefined> =>
  getText(`${ollamaRoot(checked)}/api/ps`, { own: headersFor(checked), ms: DESCRIBE_MS, fetch }).then(
    ({ text }) => readOllamaLoaded(parse(text), checked.default_model),
    () => undefined,
  );

/** The models of a service's list. Throws a ModelError that says what is wrong. */
export async function listModels(
  checked: Checked,
  fetch: typeof globalThis.fetch = providerFetch,
): Promise<{ models: ListedModel[]; isOllama: boolean }> {
  if (checked.kind === "offline") return { models: [{ name: OFFLINE.model, facts: {} }], isOllama: false };
  const callee = calleeOf(checked);
  const { status, headers, text } = await getText(`${checked.base_url}/models`, {
    own: headersFor(checked),
    ms: LIST_MS,
    fetch,
  }).catch((error: unknown) => {
    throw classifyNetworkError(error, callee);
  });
  if (status < 200 || status >= 300) {
    throw classifyServerError(refusalOf(status, headers, text), callee);
  }
  if (/html/i.test(headers.get("content-type") ?? "") || /^\s*</.test(text))
    throw notAnAnswer(callee, "a web page");
  const list = readModelList(parse(text));
  if (!list) throw notAnAnswer(callee, "something else");
  return list;
}

/** Authorization: the key, and the provider's own headers. */
const headersFor = ({ key, headers = {} }: Checked): Record<string, string> => ({
  ...defined({ authorization: key === null ? undefined : `Bearer ${key}` }),
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
});

/** Fetches a text; with a body, by POST. */
async function getText(
  url: string,
  {
    own = {},
    ms,
    fetch,
    body,
  }: {
    own?: Readonly<Record<string, string>>;
    ms: number;
    fetch: typeof globalThis.fetch;
    body?: Record<string, string>;
  },
) {
  const response = await fetch(url, {
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
    headers: {
      accept: "application/json",
      ...defined({ "content-type": body ? "application/json" : undefined }),
      ...own,
    },
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

const plain = (name: string) => name.toLowerCase().replace(/:latest$/, "");
const isListed = (model: string, models: readonly string[]) =>
  models.some((name) => plain(name) === plain(model));

function nearest(model: string, models: readonly string[]): string {
  const head = plain(model).split(/[-:/.]/)[0] ?? "";
  const like = models.filter((name) => head.length > 1 && plain(name).includes(head)).slice(0, 3);
  const shown = like.length > 0 ? like : models.slice(0, 3);
  return ` Available models include: ${shown.join(", ")}.`;
}

/** Whether the same service answers at the address with /v1, which is often forgotten. */
async function suggestV1Address(
  checked: Checked,
  error: ModelError,
  fetch: typeof globalThis.fetch,
): Promise<string | null> {
  const isAddressError = error.error.code === "CONFIG" || error.http_status === 404;
  if (!isAddressError || /\/v\d\w*$/.test(checked.base_url)) return null;
  const address = `${checked.base_url}/v1`;
  const found = await listModels({ ...checked, base_url: address }, fetch).then(
    () => true,
    (other: unknown) => other instanceof ModelError && other.http_status === 401,
  );
  return found
    ? `No model service at ${checked.base_url}, but there is one at ${address}. Use that URL.`
    : null;
}

const OLLAMA_URL = "http://127.0.0.1:11434";
const OLLAMA_MS = 300;
const OllamaVersion = z.object({ version: z.string() });
const OllamaTags = z.object({ models: z.array(z.object({ name: z.string() })) });

/** Looks for Ollama on its usual port. It is only ever offered, never used unasked. */
export async function findOllama(
  fetch: typeof globalThis.fetch = providerFetch,
  address = OLLAMA_URL,
): Promise<{ base_url: string; models: string[] } | null> {
  try {
    const version = await getText(`${address}/api/version`, { ms: OLLAMA_MS, fetch });
    if (version.status !== 200 || !OllamaVersion.safeParse(parse(version.text)).success) return null;
    const tags = await getText(`${address}/api/tags`, { ms: OLLAMA_MS, fetch });
    const models = OllamaTags.safeParse(parse(tags.text));
    return {
      base_url: `${address}/v1`,
      models: models.success ? models.data.models.map(({ name }) => name).slice(0, 200) : [],
    };
  } catch {
    return null;
  }
}
