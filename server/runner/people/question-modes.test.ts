import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, newStage } from "../testing";

/** A gate beside a branch of short waits. */
const beside = (config: object) =>
  draw("start > gate; start > w1 > w2 > w3 > end; gate yes> good; gate no> bad", {
    gate: {
      id: "gate",
      node_type: "approval_gate",
      output_keys: ["decision"],
      config: { title: "Go on?", options: ["yes", "no"], ...config },
    },
    good: { node_type: "end" },
    bad: { node_type: "end" },
  });

type Stage = ReturnType<typeof newStage>;
const statusOf = (stage: Stage, id: string, node: string) => stage.store.state(id)?.nodes[node]?.status;
const give = (stage: Stage, id: string, option: string) => {
  const asked = stage.store.state(id)!.interactions["gate#1/1/approval"]!;
  return stage.host.steering.answer(id, asked.id, asked.requested.fingerprint, {
    answer: "chosen",
    option,
    by: "ann",
  });
};

test("an async question lets other branches continue", async () => {
  const stage = newStage();
  const id = stage.start(beside({ mode: "async" }));
  await expect.poll(() => statusOf(stage, id, "end")).toBe("completed");
  expect(statusOf(stage, id, "gate")).toBe("waiting");
  give(stage, id, "yes");
  await stage.host.settled(id);
  expect(statusOf(stage, id, "good")).toBe("completed");
});

test("a sync question lets active nodes finish and starts no others until answered, even after a restart", async () => {
  const before = newStage();
  const id = before.start(beside({ mode: "sync" }));
  await expect.poll(() => before.store.find(id)?.status).toBe("waiting");
  await expect.poll(() => statusOf(before, id, "w1")).toBe("completed");
  expect([statusOf(before, id, "gate"), statusOf(before, id, "w2")]).toEqual(["waiting", "ready"]);
  const stage = newStage({ db: cutAt(before, id, 1e6) });
  stage.host.recover();
  expect(give(stage, id, "no")).toBe(true);
  await stage.host.settled(id);
  expect(["w2", "end", "bad"].map((node) => statusOf(stage, id, node))).toEqual([
    "completed",
    "completed",
    "completed",
  ]);
});

test("an advisory question continues with the default answer and keeps a later answer, marked late", async () => {
  const stage = newStage();
  const { id, state } = await stage.run(beside({ mode: "advisory", default_response: "yes" }));
  expect([state.run.final_status, state.state.decision]).toEqual(["COMPLETED", "yes"]);
  expect(give(stage, id, "no")).toBe(true);
  expect(give(stage, id, "yes")).toBe(false);
  expect(stage.host.steering.answered(id, "gate#1/1/approval")).toEqual({
    answer: "chosen",
    option: "no",
    by: "ann",
    late: true,
  });
  expect(stage.store.state(id)!.state.decision).toBe("yes");
});
