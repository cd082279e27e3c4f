import { expect, test } from "vitest";
import type { Services } from "@/server/services";
import { storageRouter } from "./storage";

test("rules of what is kept that cannot be are refused in a sentence that names the field", async () => {
  const caller = storageRouter.createCaller({
    troupe: {} as Services,
    principal: { kind: "session", id: "s" },
  });
  for (const days of [0, 1.5, 40_000, "many"])
    await expect(caller.save({ days: days as number, runs: null, workflows: {} })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: "This cannot be used. days: Must be a whole number from 1 to 36,500, or null for no limit.",
    });
});
