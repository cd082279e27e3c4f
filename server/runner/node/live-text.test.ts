import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, newStage, role } from "../testing";

test("what a model has written so far reaches those who follow the run before it has answered", async () => {
  const models = fakeModels(() => "unused");
  const seen = Promise.withResolvers<void>();
  const stage = newStage({
    models: {
      ...models,
      async complete(request, io) {
        io.delta("content", 0, "It was a dark");
        await seen.promise;
        return models.complete(request, { ...io, delta: () => {} });
      },
    },
  });
  const id = stage.start(draw("start > a > end", { a: { node_type: "agent_task", config: ASKS } }), {
    roles: [role("Worker")],
  });
  const texts: string[] = [];
  for await (const frame of stage.host.follow(id, 0)) {
    if (frame.kind !== "live") continue;
    for (const live of frame.frames)
      if (live.type === "llm_delta") texts.push(`${live.channel} ${live.offset} ${live.text}`);
    seen.resolve();
  }
  expect(texts).toEqual(["content 0 It was a dark"]);
});

const ASKS = { required_role: "Worker", task_description_template: "Write" };
