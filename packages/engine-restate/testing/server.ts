import type { SegmentHold, SegmentStart } from "@/server/cluster/protocol";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";

/** The beginning of a run whose flow a test brings. */
export const created = (): RunEventOf<"run_created"> => ({
  type: "run_created",
  seq: 1,
  ts: Date.now(),
  payload: {
    graph: draw("start > end"),
    roles: [],
    workflow_id: null,
    workflow_name: "",
    input: {},
    config: RunConfig.parse({}),
    trigger: "test",
    provider_summary: null,
  },
});

export const stretchStart = (run_id: string, more: Partial<SegmentStart> = {}): SegmentStart => ({
  run_id,
  stretch: 1,
  interpreter_version: 2,
  created: created(),
  from_turn: 0,
  signals: [],
  rules: null,
  ...more,
});

/** Takes in news and keeps them; `ended` resolves with all of a run's once its stretch is over. */
export function newNewsDesk() {
  const heard = new Map<string, SegmentProgress[]>();
  const waiting = new Map<string, (all: SegmentProgress[]) => void>();
  /** Who has which stretch. */
  const holders = new Map<string, string>();
  const isOver = (runId: string) => heard.get(runId)?.at(-1)?.end !== undefined;
  return {
    postNews: async (news: SegmentProgress) => {
      const all = heard.get(news.run_id) ?? [];
      all.push(news);
      heard.set(news.run_id, all);
      if (news.end) waiting.get(news.run_id)?.(all);
    },
    taken: async ({ run_id, stretch, worker }: SegmentHold) => {
      holders.set(`${run_id}.${stretch}`, worker);
    },
    isHeld: async ({ run_id, stretch, worker }: SegmentHold) =>
      holders.get(`${run_id}.${stretch}`) === worker,
    of: (runId: string) => heard.get(runId) ?? [],
    ended: (runId: string) =>
      isOver(runId)
        ? Promise.resolve(heard.get(runId) ?? [])
        : new Promise<SegmentProgress[]>((resolve) => waiting.set(runId, resolve)),
  };
}
