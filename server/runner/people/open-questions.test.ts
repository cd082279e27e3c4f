import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Db } from "@/db/open";
import type { RunState } from "@/server/domain/run";
import { openQuestions } from "@/server/domain/run/questions/open-questions";
import { draw } from "@/server/domain/testing/drawing";
import { GRACE_MS, newNoticeStore } from "@/server/store/notices";
import { newQuestionStore } from "@/server/store/runs/questions";
import { newSettingStore } from "@/server/store/settings";
import { defineTool } from "@/server/tools/define";
import { TurnWriter } from "../log/turn-write";
import { emptyTurn, fakeTools, newStage } from "../testing";

const call = (id: string) => ({
  node_type: "tool_call",
  name: `Step ${id}`,
  output_keys: [id],
  config: { tool_name: "pay", args: { amount: id } },
});
// Three ask at the same time, and a fourth after the first.
const GRAPH = draw("start > a > d > end; start > b > end; start > c > end", {
  a: call("a"),
  b: call("b"),
  c: call("c"),
  d: call("d"),
});
const ALWAYS = { config: { confirmation: { kind: "always" as const } } };
const tools = () =>
  fakeTools([
    defineTool({
      name: "pay",
      description: "Pays",
      input: z.object({ amount: z.string() }),
      source: "custom",
      risk: "HIGH",
      execute: () => ({ status_code: 200, output: { paid: true } }),
    }),
  ]);

type Stage = ReturnType<typeof newStage>;

/** A stage on which every write is followed by a look whether the list says what the log says. */
function watched(db?: Db): Stage {
  const stage = newStage({ tools: tools(), ...(db ? { db } : {}) });
  const { write } = stage.store;
  stage.store.write = (writes) => {
    write(writes);
    for (const { runId } of writes) expectListed(stage, runId);
  };
  return stage;
}
const expectListed = ({ db, store }: Stage, run_id: string) =>
  expect(
    newQuestionStore(db)
      .list({ run_id })
      .map(({ ask, asker }) => ({ ask, asker })),
  ).toEqual(openQuestions(store.state(run_id)!).map(({ ask, asker }) => ({ ask, asker })));
const listed = ({ db }: Stage) => newQuestionStore(db).list();
const answer = ({ host }: Stage, { run_id, ask }: ReturnType<typeof listed>[number], yes = true) =>
  host.steering.answer(run_id, ask.id, ask.requested.fingerprint, {
    answer: yes ? "approve" : "reject",
    by: "ann",
  });

/** A machine under load takes its time. */
const soon: typeof expect.poll = (what) => expect.poll(what, { timeout: 10_000 });

test("the list of open questions always matches the logs, whatever people do", async () => {
  const Act = fc.oneof(
    fc.record({ does: fc.constant("answer" as const), at: fc.nat(2), yes: fc.boolean() }),
    fc.record({ does: fc.constant("restart" as const) }),
    fc.record({ does: fc.constant("cancel" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(Act, { minLength: 1, maxLength: 6 }), async (acts) => {
      let stage = watched();
      const id = stage.start(GRAPH, ALWAYS);
      await soon(() => listed(stage).length).toBe(3);
      for (const act of acts) {
        const open = listed(stage);
        if (open.length === 0) break;
        if (act.does === "restart") {
          await stage.host.drain(1_000);
          stage = watched(stage.db);
          stage.host.recover();
        } else if (act.does === "cancel") stage.host.cancel(id, { by: "ann", reason: "" });
        else answer(stage, open[act.at % open.length]!, act.yes);
        // What was said shows: in the list, or as the end of the run.
        if (act.does !== "restart")
          await soon(() => JSON.stringify(listed(stage)) !== JSON.stringify(open)).toBe(true);
        expectListed(stage, id);
      }
      stage.host.cancel(id, { by: "ann", reason: "" });
      await soon(() => stage.store.find(id)?.status).toBe("finished");
      expect(listed(stage)).toEqual([]);
      await stage.host.drain(1_000);
    }),
    { numRuns: 12 },
  );
});

test("the total counts all open questions under the same filters as the truncated list", async () => {
  const stage = watched();
  const pays = stage.start(GRAPH, { ...ALWAYS, workflow: "wf_pay" });
  await soon(() => listed(stage).length).toBe(3);
  stage.start(GRAPH, ALWAYS);
  await soon(() => listed(stage).length).toBe(6);
  const questions = newQuestionStore(stage.db);
  const kinds = [{}, { workflow_id: "wf_pay" }, { run_id: pays }, { kind: "review" }, { expertise: "law" }];
  expect(kinds.map((query) => questions.total(query))).toEqual([6, 3, 3, 0, 0]);
  expect(kinds.map((query) => questions.list({ ...query, limit: 2 }).length)).toEqual([2, 2, 2, 0, 0]);
});

test("an open question shows asker, content and age, and urgent or expiring questions come first", async () => {
  const stage = watched();
  const id = stage.start(GRAPH, { ...ALWAYS, workflow: "wf_pay" });
  await soon(() => listed(stage).length).toBe(3);
  const [first] = listed(stage);
  expect(first).toMatchObject({
    run_id: id,
    workflow_id: "wf_pay",
    workflow_name: "Test",
    simulated: false,
    held: null,
    urgency: "normal",
    assigned_to: null,
    reminded_at: null,
    escalations: 0,
    asker: { node_name: "Step a" },
    ask: {
      status: "open",
      requested: { kind: "tool_confirmation", tool_name: "pay", args: { amount: "a" } },
    },
  });
  stage.db.$client.prepare("update run_questions set urgency = 0 where interaction_id like 'c#%'").run();
  expect(listed(stage).map(({ asker }) => asker.node_name)).toEqual(["Step c", "Step a", "Step b"]);
  expect(newQuestionStore(stage.db).list({ kind: "review" })).toEqual([]);
  expect(newQuestionStore(stage.db).list({ workflow_id: "wf_pay", kind: "tool_confirmation" })).toHaveLength(
    3,
  );
  expect(newQuestionStore(stage.db).count()).toMatchObject({ open: 3 });
});

test("questions from before the list existed are added at the next start", async () => {
  const before = newStage({ tools: tools() });
  before.start(GRAPH, ALWAYS);
  await soon(() => listed(before).length).toBe(3);
  const was = listed(before);
  await before.host.drain(1_000);
  before.db.$client.prepare("delete from run_questions").run();
  const after = newStage({ tools: tools(), db: before.db });
  after.host.recover();
  expect(listed(after)).toEqual(was);
});

test("a quarantined run keeps its questions at the end of the list, outside the count", async () => {
  const stage = watched();
  const [one, other] = [stage.start(GRAPH, ALWAYS), stage.start(GRAPH, ALWAYS)];
  await soon(() => listed(stage).length).toBe(6);
  stage.store.hold(one, { code: "stopped_server", message: "It stopped the server.", at: 1 });
  expect(listed(stage).map(({ run_id, held }) => [run_id, held?.code ?? null])).toEqual([
    ...[1, 2, 3].map(() => [other, null]),
    ...[1, 2, 3].map(() => [one, "stopped_server"]),
  ]);
  expect(newQuestionStore(stage.db).count()).toMatchObject({ open: 3 });
});

test("watchers are notified of each new question, even if the run was already waiting", async () => {
  const stage = watched();
  let ticks = 0;
  stage.host.watchers.watch(() => ticks++);
  stage.start(GRAPH, ALWAYS);
  await soon(() => listed(stage).length).toBe(3);
  await soon(() => ticks).toBeGreaterThan(0);
  const before = ticks;
  // The next question of the same run; it waits for a person before and after.
  answer(stage, listed(stage).find(({ asker }) => asker.node_name === "Step a")!);
  await soon(() => listed(stage).map(({ asker }) => asker.node_name)).toContain("Step d");
  await soon(() => ticks).toBeGreaterThan(before);
});

test("a resumed run reports its questions as new only at the first turn that asks", async () => {
  const stage = watched();
  const id = stage.start(GRAPH, ALWAYS);
  await soon(() => listed(stage).length).toBe(3);
  const asking = stage.store.state(id)!;
  stage.host.cancel(id, { by: "ann", reason: "" });
  await stage.host.settled(id);
  const over = stage.store.state(id)!;

  const turn = emptyTurn(id);
  const newResumedWriter = () => {
    const writer = new TurnWriter(() => []);
    return (state: RunState | null) => {
      writer.state = state;
      const { asksAnew, write } = writer.write(turn);
      return [asksAnew, write.questions?.map(({ asker }) => asker.node_name)];
    };
  };
  const all = ["Step a", "Step b", "Step c"];
  const states = [null, asking, asking, over, over];
  expect(states.map(newResumedWriter())).toEqual([
    [false, undefined],
    [true, all],
    [false, undefined],
    [true, []],
    [false, undefined],
  ]);
  expect([over, asking].map(newResumedWriter())).toEqual([
    [false, []],
    [true, all],
  ]);
});

test("a notification enters the outbox with its question, once per channel and not after a rollback", async () => {
  const stage = newStage({ tools: tools() });
  const notices = newNoticeStore(stage.db, () => Date.now() + GRACE_MS);
  newSettingStore(stage.db).set(
    "notices",
    JSON.stringify({ webhook: { is_on: true }, email: { is_on: false } }),
  );
  const { write } = stage.store;
  let rejections = 0;
  stage.store.write = (writes) => {
    if (writes.some(({ questions }) => questions?.length) && rejections++ === 0) {
      expect(() => write([...writes, { ...writes[0]!, turn: 99 }])).toThrow(
        "arrived before the one it follows",
      );
      expect(notices.due(10)).toEqual([]);
    }
    write(writes);
  };
  const id = stage.start(GRAPH, ALWAYS);
  await soon(() => listed(stage).length).toBe(3);
  expect(notices.due(10).map(({ run_id, cause, channel }) => [run_id, cause, channel])).toEqual(
    [1, 2, 3].map(() => [id, "asked", "webhook"]),
  );
  answer(stage, listed(stage).find(({ asker }) => asker.node_name === "Step b")!);
  await soon(() => listed(stage).length).toBe(2);
  expect(notices.due(10)).toHaveLength(2);
});
