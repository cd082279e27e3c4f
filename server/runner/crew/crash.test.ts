import { describe, expect, test } from "vitest";
import type { RunState } from "@/server/domain/run";
import { sized } from "@/server/testing/thorough";
import { cutAt, newStage } from "../testing";
import { cases, graphOf, modelsOf, roles } from "./testing";

/** What a run came to, without the times at which it did. */
const summarize = ({ run, state, agents, crews, plans }: RunState) =>
  JSON.parse(
    JSON.stringify({
      status: run.final_status,
      state,
      agents: Object.values(agents)
        .map(({ key, status, messages }) => ({ key, status, messages }))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
      crews,
      plans,
    }),
    (key, value: unknown) => (/^(?:at|seq|.*_at)$/.test(key) ? undefined : value),
  ) as object;

describe("crew recovery after a server stop at any turn", () => {
  for (const [name, one] of Object.entries(cases))
    test(name, async () => {
      const graph = graphOf(one);
      const models = modelsOf(one.answer);
      const whole = newStage({ models });
      const first = await whole.run(graph, { roles });
      expect(first.state.run).toMatchObject({ final_status: "COMPLETED" });
      const turns = whole.store.journal(first.id).turns.length;
      expect(turns).toBeGreaterThan(4);
      for (let cut = 1; cut < turns; cut += sized(2, 1)) {
        const db = cutAt(whole, first.id, cut);
        const known = newStage({ db })
          .store.events(first.id, 0, 1e6)
          .filter(({ type }) => type === "llm_call_completed").length;
        const again = modelsOf(one.answer);
        const stage = newStage({ db, models: again });
        stage.host.recover();
        await stage.host.settled(first.id);
        expect({ cut, ...summarize(stage.store.state(first.id)!) }).toEqual({
          cut,
          ...summarize(first.state),
        });
        // Answers that were known are not asked for again.
        expect({ cut, asked: again.asked.length }).toEqual({ cut, asked: models.asked.length - known });
      }
    });
});
