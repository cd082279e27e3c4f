import { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { isText, recordOf } from "@/server/domain/base/guards";
import { asStored } from "@/server/domain/base/json";
import type { Cassette, CassetteAnswer } from "@/server/domain/scenario/cassette";
import type { MissedAnswer } from "@/server/domain/scenario/report";
import type { Models } from "@/server/llm/model";
import type { ToolHost } from "@/server/tools/host";
import { BrokenOff, type Served } from "../durable/virtual-run";
import type { Effects } from "../node/ports";
import { differenceFrom } from "../replay/difference";
import { requestHash } from "../replay/request-hash";
import type { SpendingCap } from "./spending-cap";

/** What answers model and tool calls in a test. */
export interface Answering {
  effects: Effects;
  /** Returns undefined if the call is to be made. Throws Missed if there is no answer and no call is allowed. */
  serve(request: StepRequest, key: string): Served | undefined;
  /** Number of recorded answers that were not used. */
  unused(): number;
  /** Real models answer, so steps take real time. */
  isReal?: true;
  /** Recorded answers come first, so requests are built as in the recording. */
  isRecorded?: true;
}

/** What a test uses of the installation. Nothing is stored there. */
export interface TestParts {
  /** The installation's models; called only in tests with real models. */
  models: Models;
  /** The offline demo model under every model name; new for each test. */
  demoModels(): Models;
  /** The installation's tools; offered, never called. */
  tools: ToolHost;
  /** Tools that work in memory without network access; new for each test. `now`: the test's clock. */
  scratchTools(now: () => number): { has(name: string): boolean; host: ToolHost };
}

/** Only recorded answers. */
export function recordedAnswers(parts: TestParts, cassette: Cassette): Answering {
  const player = new CassettePlayer(cassette);
  return {
    isRecorded: true,
    effects: { models: parts.models, tools: neverCalled(parts.tools) },
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
      if (request.kind === "run") return undefined;
      if (request.kind === "model" ? isDemo(request) : scratch.has(toolOf(request))) return undefined;
      throw new Missed(
        missedOf(
          request,
          key,
          [],
          request.kind === "model"
            ? "This test has no recorded answers, and tests call no real models by default. Save a run as a test, pin the node's output, or use the offline demo model."
            : `This test has no recorded answers, and tests don't call ${toolOf(request)}. Save a run as a test, or pin the node's output.`,
        ),
      );
    },
    unused: () => 0,
  };
}

/**
 * Real models, up to a spending cap. Tools return what was recorded for the same call, and with `isRecorded` so do models. All
 * other tool calls use the test tools, which have no effects outside.
 */
export function realAnswers(
  parts: TestParts,
  spendingCap: SpendingCap,
  cassette: Cassette | undefined,
  { now, isRecorded }: { now(): number; isRecorded?: true },
): Answering {
  const player = cassette ? new CassettePlayer(cassette) : null;
  const scratch = parts.scratchTools(now);
  return {
    isReal: true,
    ...defined({ isRecorded }),
    effects: { models: spendingCap.paying(parts.models), tools: withScratch(parts.tools, scratch.host) },
    serve(request, key) {
      const isTool = request.kind !== "model" && request.kind !== "run";
      const served = isTool || isRecorded ? player?.next(requestHash(request)) : undefined;
      if (served || !isTool) return served;
      const tool = toolOf(request);
      if (scratch.has(tool)) return undefined;
      const why = `Tests call no outside tools, even with real models, and there is no recorded answer from ${tool}. Save a run as a test, or pin the node's output.`;
      throw new Missed(missedOf(request, key, player?.unused ?? [], why));
    },
    unused: () => 0,
  };
}

const toolOf = (request: StepRequest): string => {
  const { tool } = recordOf(request.asked());
  return isText(tool) ? tool : "";
};

function isSimulatedModel(models: Pick<Models, "describe">, request: StepRequest): boolean {
  const { llm_config = {} } = recordOf(request.asked());
  return models.describe(LlmConfig.safeParse(llm_config ?? {}).data)?.simulated === true;
}

/** Calls the first, describes models as the second. */
const described = (models: Models, { describe }: Pick<Models, "describe">): Models => ({
  ...models,
  describe,
});

/** Tools that are offered and never called. */
const neverCalled = ({ specs, runCode, matches }: ToolHost): ToolHost => ({
  specs,
  runCode,
  matches,
  invoke: () => Promise.reject(new Error("Tests with recorded answers call no tools.")),
  forgetTask: async () => {},
});

const withScratch = ({ specs, runCode, matches }: ToolHost, scratch: ToolHost): ToolHost => ({
  specs,
  runCode,
  matches,
  invoke: (name, args, scope) => scratch.invoke(name, args, scope),
  forgetTask: (caller) => scratch.forgetTask(caller),
});

/** A call of a test without an answer. */
export class Missed extends BrokenOff {
  override name = "Missed";
  constructor(readonly missed: MissedAnswer) {
    super(missed.sentence);
  }
}

/** Plays a cassette: the k-th time that a request is made, it gets its k-th answer. */
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

  /** The next answer to a request; undefined if all its answers are used. */
  next(hash: string): Served | undefined {
    const k = this.asked.get(hash) ?? 0;
    const found = this.byRequest.get(hash)?.[k];
    if (!found) return undefined;
    this.asked.set(hash, k + 1);
    this.taken++;
    const { answer, order } = found;
    return { result: resultOf(answer), order, took_ms: answer.took_ms };
  }

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

/** A request that was not recorded, compared with the nearest unused recorded one. */
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
