import { defined } from "@/server/domain/base/defined";
import "server-only";
import { z } from "zod";
import type { Capability, ModelFacts, Provider, Providers } from "@/server/domain/model/provider";
import type { ToolProtocol } from "@/server/domain/tool/tool";
import { knownContextWindow } from "../limits/context-window";
import { ModelError, type ModelRequest, type ToolOffer } from "../model";
import { newModels } from "../models";

/** For one answer; a model on one's own hardware may have to be loaded first. */
const ANSWER_MS = 60_000;

/** Does nothing: only the call itself matters. */
const PROBE_TOOL: ToolOffer = {
  name: "note_word",
  description: "Notes a word. Has no other effect.",
  parameters: {
    type: "object",
    properties: { word: { type: "string" } },
    required: ["word"],
    additionalProperties: false,
  },
};
const SHAPE = {
  type: "object",
  properties: { legs: { type: "integer" } },
  required: ["legs"],
  additionalProperties: false,
};
const Legs = z.strictObject({ legs: z.number().int() });

export interface Probed {
  capability: Capability;
  /** What was found out, a sentence each. */
  found: string[];
  /** How long the first answer took. */
  answer_ms: number;
}

/**
 * Asks a model a few tiny questions, the way that a run would: whether it answers, calls a tool, keeps to a shape.
 * Throws a ModelError where it does not even answer. `loadedWindow` is asked once the model is loaded.
 */
export async function probeModel(
  checked: Pick<Provider, "name" | "kind" | "base_url" | "default_model"> & {
    key: string | null;
    headers?: Readonly<Record<string, string>>;
    settings?: Provider["settings"];
  },
  reported: ModelFacts,
  fetch: typeof globalThis.fetch,
  loadedWindow: () => Promise<number | undefined>,
): Promise<Probed> {
  const { providers, capability } = only(checked, reported);
  const models = newModels({ providers, fetch, limits: { firstByteMs: ANSWER_MS, totalMs: ANSWER_MS } });
  let asked = 0;
  const ask = (content: string, more: Partial<ModelRequest> = {}) => {
    asked++;
    return models.complete(
      { llm_config: {}, messages: [{ role: "user", content }], call_id: "check", run_id: "check", ...more },
      { signal: new AbortController().signal, delta: () => undefined },
    );
  };

  const started = performance.now();
  await ask("Answer with the word OK.");
  const answer_ms = performance.now() - started;
  const learn = (change: Capability) =>
    providers.observe("checked", checked.default_model, { ...capability(), ...change });

  const found = [await about(probeTools), await about(probeShape), await about(probeApi)].filter(Boolean);
  const window = await loadedWindow();
  if (window !== undefined) learn({ context_window: window });
  const settings = { ...checked.settings, capabilities: { [checked.default_model]: capability() } };
  const known = knownContextWindow({ ...checked, settings }, checked.default_model, reported);
  found.push(
    known === undefined
      ? "How much it reads at once is not known. Enter it under “Limits and prices”, if you know."
      : `It reads up to ${known.toLocaleString("en")} tokens at once.`,
    `${asked} tiny questions were asked to find this out; runs need not ask them again.`,
  );
  // What a probe detects is valid until the next probe; only what a run learned from an error is tried again.
  const { learned_at: _times, ...lasting } = capability();
  return { capability: lasting, found, answer_ms };

  async function probeTools(): Promise<string> {
    const calls = async (tool_protocol: ToolProtocol | "auto") => {
      const answer = await ask('Call the tool note_word with the word "ready", and say nothing else.', {
        tools: [PROBE_TOOL],
        tool_protocol,
      });
      const isCalled = answer.tool_calls?.some(
        ({ tool_name, fault }) => tool_name === PROBE_TOOL.name && !fault,
      );
      return { isCalled, protocol: answer.tool_protocol };
    };
    const first = await calls("auto");
    if (first.isCalled && first.protocol === "native") {
      learn({ native_tools: true });
      return "It calls tools as functions.";
    }
    // It may have taken functions without a word, and not know them.
    if (first.isCalled || (first.protocol === "native" && (await calls("text")).isCalled)) {
      learn({ native_tools: false });
      return "It does not call tools as functions, but as text; they are offered so.";
    }
    return "It made no call when asked for one, neither as a function nor as text. Agents with tools may need another model.";
  }

  /**
   * The second protocol is probed only on its native services; elsewhere an error points to it, or a person chooses it.
   */
  async function probeApi(): Promise<string> {
    const isAtHome = /^https:\/\/(?:api\.openai\.com|[\w-]+\.openai\.azure\.com)\b/.test(checked.base_url);
    if (!isAtHome || checked.settings?.api !== undefined || capability().api !== undefined) return "";
    const before = capability();
    learn({ api: "responses" });
    try {
      await ask("Answer with the word OK.");
      return "It is asked by the Responses API, which keeps its thoughts between calls of tools.";
    } catch (error) {
      providers.observe("checked", checked.default_model, before);
      if (!(error instanceof ModelError)) throw error;
      return "It does not answer by the Responses API, and is asked by Chat Completions.";
    }
  }

  async function probeShape(): Promise<string> {
    const answer = await ask("How many legs does a spider have?", {
      response: { name: "answer", schema: SHAPE },
    });
    if (answer.response_format === "json_schema") {
      if (isInShape(answer.content)) {
        learn({ response_format: capability().response_format ?? reported.response_format ?? "strict" });
        return "It keeps to a given shape of its answers.";
      }
      learn({ response_format: "json_object" });
      return "It takes a shape for its answers, but does not keep to it; shapes are asked for in words as well.";
    }
    if (answer.response_format === "json_object") learn({ response_format: "json_object" });
    return isInShape(answer.content)
      ? "It does not know shapes for its answers, but keeps to one that it is asked for in words."
      : "It does not know shapes for its answers, nor keep to one that it is asked for in words; answers may have to be asked for again.";
  }
}

/** The sentence; where the question failed, why. */
async function about(probe: () => Promise<string>): Promise<string> {
  try {
    return await probe();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return `A part of the test failed: ${error.message}`;
  }
}

function isInShape(content: string): boolean {
  try {
    return Legs.safeParse(JSON.parse(content)).success;
  } catch {
    return false;
  }
}

/** What a person chose of how it is asked, and how long it may take. */
const chosen = ({ api, first_byte_ms, idle_timeout_ms, timeout_ms }: Provider["settings"] = {}) => ({
  ...defined({ api, first_byte_ms, idle_timeout_ms, timeout_ms }),
});

/** One provider that keeps what is learned about its model to itself. */
function only(
  checked: Parameters<typeof probeModel>[0],
  reported: ModelFacts,
): { providers: Providers; capability: () => Capability } {
  let learned: Capability = {};
  const provider = (): Provider => ({
    ...checked,
    id: "checked",
    has_key: checked.key !== null,
    key_hint: null,
    header_names: [],
    is_default: true,
    simulated: false,
    from_environment: false,
    // Limits of the rate would only make the test wait; what was learned before may have changed.
    settings: { ...chosen(checked.settings), capabilities: { [checked.default_model]: learned } },
  });
  return {
    capability: () => learned,
    providers: {
      list: () => [provider()],
      find: provider,
      findDefault: provider,
      keyOf: () => checked.key,
      headersOf: () => checked.headers ?? {},
      observe(_id, _model, capability) {
        learned = capability;
      },
      reported: () => reported,
      keepReported: () => undefined,
    },
  };
}
