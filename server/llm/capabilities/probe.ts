import { defined } from "@/server/domain/base/defined";
import "server-only";
import { z } from "zod";
import type { Capability, ModelFacts, Provider, Providers } from "@/server/domain/model/provider";
import type { ToolProtocol } from "@/server/domain/tool/tool";
import { knownContextWindow } from "../limits/context-window";
import { type ModelAnswer, ModelError, type ModelRequest, type Models, type ToolOffer } from "../model";
import { newModels } from "../models";

/** The timeout of one answer; a local model may have to be loaded first. */
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
  /** The findings, a sentence each. */
  found: string[];
  /** How long the first answer took. */
  answer_ms: number;
}

/** The provider to probe, as its form has it. */
type Checked = Pick<Provider, "name" | "kind" | "base_url" | "default_model"> & {
  key: string | null;
  headers?: Readonly<Record<string, string>>;
  settings?: Provider["settings"];
};

/**
 * Asks a model a few tiny questions, as a run would: whether it answers, calls a tool, follows a schema. Throws a
 * ModelError if it doesn't even answer. `loadedWindow` is asked once the model is loaded.
 */
export function probeModel(
  checked: Checked,
  reported: ModelFacts,
  fetch: typeof globalThis.fetch,
  loadedWindow: () => Promise<number | undefined>,
): Promise<Probed> {
  return new Probe(checked, reported, fetch).execute(loadedWindow);
}

class Probe {
  private readonly models: Models;
  private learned: Capability = {};
  private asked = 0;

  constructor(
    private readonly checked: Checked,
    private readonly reported: ModelFacts,
    fetch: typeof globalThis.fetch,
  ) {
    const limits = { firstByteMs: ANSWER_MS, totalMs: ANSWER_MS };
    this.models = newModels({ providers: this.providers(), fetch, limits });
  }

  async execute(loadedWindow: () => Promise<number | undefined>): Promise<Probed> {
    const { checked, reported } = this;
    const started = performance.now();
    await this.ask("Answer with the word OK.");
    const answer_ms = performance.now() - started;
    const found = [
      await about(() => this.tools()),
      await about(() => this.shape()),
      await about(() => this.api()),
    ].filter(Boolean);
    const window = await loadedWindow();
    if (window !== undefined) this.learn({ context_window: window });
    const settings = { ...checked.settings, capabilities: { [checked.default_model]: this.learned } };
    const known = knownContextWindow({ ...checked, settings }, checked.default_model, reported);
    found.push(
      known === undefined
        ? "The context window is unknown. If you know it, enter it under “Limits and prices”."
        : `The context window is ${known.toLocaleString("en")} tokens.`,
      `This took ${this.asked} short test requests; runs don't need to repeat them.`,
    );
    // What a probe detects is valid until the next probe; only what a run learned from an error is tried again.
    const { learned_at: _times, ...lasting } = this.learned;
    return { capability: lasting, found, answer_ms };
  }

  private ask(content: string, more: Partial<ModelRequest> = {}): Promise<ModelAnswer> {
    this.asked++;
    return this.models.complete(
      { llm_config: {}, messages: [{ role: "user", content }], call_id: "check", run_id: "check", ...more },
      { signal: new AbortController().signal, delta: () => undefined },
    );
  }

  private learn(change: Capability): void {
    this.learned = { ...this.learned, ...change };
  }

  private async tools(): Promise<string> {
    const first = await this.toolCall("auto");
    if (first.isCalled && first.protocol === "native") {
      this.learn({ native_tools: true });
      return "Native tool calls work.";
    }
    // It may have accepted functions silently without supporting them.
    if (first.isCalled || (first.protocol === "native" && (await this.toolCall("text")).isCalled)) {
      this.learn({ native_tools: false });
      return "Native tool calls don't work; tools are called in text instead.";
    }
    return "The model didn't call a tool when asked to. Agents with tools may need another model.";
  }

  private async toolCall(tool_protocol: ToolProtocol | "auto") {
    const answer = await this.ask('Call the tool note_word with the word "ready", and say nothing else.', {
      tools: [PROBE_TOOL],
      tool_protocol,
    });
    const isCalled = answer.tool_calls?.some(
      ({ tool_name, fault }) => tool_name === PROBE_TOOL.name && !fault,
    );
    return { isCalled, protocol: answer.tool_protocol };
  }

  private async shape(): Promise<string> {
    const answer = await this.ask("How many legs does a spider have?", {
      response: { name: "answer", schema: SHAPE },
    });
    const isShaped = isInShape(answer.content);
    if (answer.response_format === "json_schema") {
      if (isShaped) {
        this.learn({
          response_format: this.learned.response_format ?? this.reported.response_format ?? "strict",
        });
        return "Follows JSON schemas.";
      }
      this.learn({ response_format: "json_object" });
      return "Accepts JSON schemas but doesn't follow them, so the schema is also added to the prompt.";
    }
    if (answer.response_format === "json_object") this.learn({ response_format: "json_object" });
    return isShaped
      ? "JSON schemas aren't supported, but the model follows a schema in the prompt."
      : "JSON schemas aren't supported, and the model doesn't follow a schema in the prompt; answers may need retries.";
  }

  /**
   * The second protocol is probed only on its native services; elsewhere an error points to it, or a person chooses it.
   */
  private async api(): Promise<string> {
    const { base_url, settings } = this.checked;
    const isAtHome = /^https:\/\/(?:api\.openai\.com|[\w-]+\.openai\.azure\.com)\b/.test(base_url);
    if (!isAtHome || settings?.api !== undefined || this.learned.api !== undefined) return "";
    const before = this.learned;
    this.learn({ api: "responses" });
    try {
      await this.ask("Answer with the word OK.");
      return "Uses the Responses API, which keeps its reasoning between tool calls.";
    } catch (error) {
      this.learned = before;
      if (!(error instanceof ModelError)) throw error;
      return "The Responses API isn't supported; uses Chat Completions.";
    }
  }

  /** The checked provider alone; what is learned about its model stays here. */
  private providers(): Providers {
    const { checked } = this;
    const provider = (): Provider => ({
      ...checked,
      id: "checked",
      has_key: checked.key !== null,
      key_hint: null,
      header_names: [],
      is_default: true,
      simulated: false,
      from_environment: false,
      // Rate limits would only delay the test; earlier lessons may be outdated.
      settings: { ...chosen(checked.settings), capabilities: { [checked.default_model]: this.learned } },
    });
    return {
      list: () => [provider()],
      find: provider,
      findDefault: provider,
      keyOf: () => checked.key,
      headersOf: () => checked.headers ?? {},
      observe: (_id, _model, capability) => {
        this.learned = capability;
      },
      reported: () => this.reported,
      keepReported: () => undefined,
    };
  }
}

/** A probe's sentence, or why it failed. */
async function about(probe: () => Promise<string>): Promise<string> {
  try {
    return await probe();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return `Part of the test failed: ${error.message}`;
  }
}

function isInShape(content: string): boolean {
  try {
    return Legs.safeParse(JSON.parse(content)).success;
  } catch {
    return false;
  }
}

/** A person's choices of protocol and timeouts. */
const chosen = ({ api, first_byte_ms, idle_timeout_ms, timeout_ms }: Provider["settings"] = {}) =>
  defined({ api, first_byte_ms, idle_timeout_ms, timeout_ms });
