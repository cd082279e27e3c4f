import { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { asStored } from "@/server/domain/base/json";
import type { Cassette, CassetteAnswer } from "@/server/domain/scenario/cassette";
import type { MissedAnswer } from "@/server/domain/scenario/report";
import type { Models } from "@/server/llm/model";
import type { ToolHost } from "@/server/tools/host";
import { BrokenOff, type Served } from "../durable/virtual-run";
import type { Effects } from "../node/ports";
import { differenceFrom } from "../recorded/difference";
import { requestHash } from "../recorded/request-hash";
import type { SpendingCap } from "./spending-cap";

/** Who answers in a test. */
export interface Answering {
  effects: Effects;
  /** Throws Missed where nobody may be asked. */
  serve(request: StepRequest, key: string): Served | undefined;
  /** How many recorded answers nobody has asked for. */
  unused(): number;
  /** Real models are asked, so that what is carried out takes its time. */
  isReal?: true;
}

/** What tests may use of an installation. None of it leaves anything there. */
export interface TestParts {
  /** As the installation has them: to be described, and asked only where real models are. */
  models: Models;
  /** The offline demo model, for whatever model is named; new for each test. */
  demoModels(): Models;
  /** The installation's tools: to be offered. */
  tools: ToolHost;
  /** Tools that keep what they keep in memory and reach nothing outside, new for each test. `now`: its time. */
  scratchTools(now: () => number): { has(name: string): boolean; host: ToolHost };
}

/** Nothing but what was recorded. */
export function recordedAnswers(parts: TestParts, cassette: Cassette): Answering {
  const player = new CassettePlayer(cassette);
  return {
    effects: { models: parts.models, tools: lookedAt(parts.tools) },
    serve(request, key) {
      const served = player.next(requestHash(request));
      if (served) return served;
      throw new Missed(missedOf(request, key, player.unused, "There is no recorded answer."));
    },
    unused: () => player.unused.length,
  };
}

/**
 * The offline demo model and tools that touch nothing outside. `always`: also where the workflow names another model.
 */
export function simulatedAnswers(parts: TestParts, always: boolean, now: () => number): Answering {
  const demo = parts.demoModels();
  const scratch = parts.scratchTools(now);
  const isDemo = (request: StepRequest) => always || isSimulatedModel(parts.models, request);
  return {
    effects: {
      models: always ? demo : described(demo, parts.models),
      tools: withScratch(parts.tools, scratch.host),
    },
    serve(request, key) {
      if (request.kind === "model" ? isDemo(request) : scratch.has(toolOf(request))) return undefined;
      throw new Missed(
        missedOf(
          request,
          key,
          [],
          request.kind === "model"
            ? "This test has no recorded answers, and a test asks no real model unless it is told to. Keep a run as a test, pin the node's output, or let the offline demo model answer."
            : `This test has no recorded answers, and a test does not call ${toolOf(request)}. Keep a run as a test, or pin the node's output.`,
        ),
      );
    },
    unused: () => 0,
  };
}

/**
 * Real models, up to a spending cap. Tools give what was recorded for the very same call; the others are those of a test, which
 * touch nothing outside.
 */
export function realAnswers(
  parts: TestParts,
  spendingCap: SpendingCap,
  cassette: Cassette | undefined,
  now: () => number,
): Answering {
  const player = cassette ? new CassettePlayer(cassette) : null;
  const scratch = parts.scratchTools(now);
  return {
    isReal: true,
    effects: { models: spendingCap.paying(parts.models), tools: withScratch(parts.tools, scratch.host) },
    serve(request, key) {
      if (request.kind === "model") return undefined;
      const tool = toolOf(request);
      const served = player?.next(requestHash(request));
      if (served) return served;
      if (scratch.has(tool)) return undefined;
      const why = `A test calls no tool outside, not even with real models, and there is no recorded answer of ${tool}. Keep a run as a test, or pin the node's output.`;
      throw new Missed(missedOf(request, key, player?.unused ?? [], why));
    },
    unused: () => 0,
  };
}

const toolOf = (request: StepRequest): string => {
  const asked = request.asked();
  if (asked === null || typeof asked !== "object" || Array.isArray(asked)) return "";
  return typeof asked.tool === "string" ? asked.tool : "";
};

function isSimulatedModel(models: Pick<Models, "describe">, request: StepRequest): boolean {
  const asked = request.asked();
  const config =
    asked !== null && typeof asked === "object" && !Array.isArray(asked) ? asked.llm_config : null;
  return models.describe(LlmConfig.safeParse(config ?? {}).data)?.simulated === true;
}

/** Answers of one, described as the other has them. */
const described = (models: Models, { describe }: Pick<Models, "describe">): Models => ({
  ...models,
  describe,
});

/** Tools that are looked at and never called. */
const lookedAt = ({ specs, runCode, matches }: ToolHost): ToolHost => ({
  specs,
  runCode,
  matches,
  invoke: () => Promise.reject(new Error("A test with recorded answers calls no tool.")),
  forgetTask: async () => {},
});

const withScratch = ({ specs, runCode, matches }: ToolHost, scratch: ToolHost): ToolHost => ({
  specs,
  runCode,
  matches,
  invoke: (name, args, scope) => scratch.invoke(name, args, scope),
  forgetTask: (caller) => scratch.forgetTask(caller),
});

/** A test asked something that nobody has an answer for. */
export class Missed extends BrokenOff {
  override name = "Missed";
  constructor(readonly missed: MissedAnswer) {
    super(missed.sentence);
  }
}

/** The answers of a cassette by their requests: the k-th asking of one gets its k-th answer. */
class CassettePlayer {
  private readonly byRequest = new Map<string, { answer: CassetteAnswer; order: number }[]>();
  private readonly asked = new Map<string, number>();
  private taken = 0;

  constructor(readonly cassette: Cassette) {
    for (const [order, answer] of cassette.answers.entries()) {
      const same = this.byRequest.get(answer.request);
      if (same) same.push({ answer, order });
      else this.byRequest.set(answer.request, [{ answer, order }]);
    }
  }

  /** The answer that this asking of the request has; undefined where it was asked less often. */
  next(hash: string): Served | undefined {
    const k = this.asked.get(hash) ?? 0;
    const found = this.byRequest.get(hash)?.[k];
    if (!found) return undefined;
    this.asked.set(hash, k + 1);
    this.taken++;
    const { answer, order } = found;
    return { result: resultOf(answer), order, took_ms: answer.took_ms };
  }

  /** Recorded and not asked for. */
  get unused(): CassetteAnswer[] {
    return [...this.byRequest].flatMap(([request, answers]) =>
      answers.slice(this.asked.get(request) ?? 0).map(({ answer }) => answer),
    );
  }
}

function resultOf({ value, error }: CassetteAnswer): Settled | null {
  if (error) return { ok: false, error };
  return value === undefined ? null : { ok: true, value };
}

/** What was asked and not recorded, beside the nearest of what was and is not used yet. */
function missedOf(
  request: StepRequest,
  key: string,
  recorded: readonly CassetteAnswer[],
  why: string,
): MissedAnswer {
  const { kind } = request;
  const asked = asStored(request.asked());
  const difference = differenceFrom({ kind, asked }, recorded);
  const node_id = /^([^#/]+)#\d+/.exec(key)?.[1];
  return defined({ asked, difference, sentence: `${why} ${difference.sentence}`.trim(), node_id });
}
