import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { cutAt, newStage } from "../testing";

const graph = draw("start > a > w > b > end");

test.each([1, 99])(
  "a run of an unavailable interpreter version (%i) is quarantined unchanged and can be cancelled",
  async (version) => {
    const first = newStage();
    const { id } = await first.run(graph);
    const db = cutAt(first, id, 2);
    db.$client.prepare("update runs set interpreter_version = ?").run(version);
    const stage = newStage({ db });
    const before = stage.store.events(id, 0, 1e6);
    stage.host.recover();
    expect(stage.store.find(id)).toMatchObject({ status: "held" });
    expect(stage.store.find(id)!.held!.message).toMatch(/needs the version of Troupe it started with/);
    expect(stage.store.events(id, 0, 1e6)).toEqual(before);
    expect(stage.host.cancel(id, { by: "user", reason: "" })).toBe(true);
    await expect.poll(() => stage.store.find(id)!.final_status).toBe("CANCELLED");
  },
);
