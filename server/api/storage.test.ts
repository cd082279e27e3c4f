import { expect, test } from "vitest";
import type { Container } from "@/server/services";
import { appRouter } from "./root";

test("invalid retention rules are rejected with the name of the field", async () => {
  const caller = appRouter.createCaller({
    troupe: {} as Container,
    principal: { kind: "session", id: "s" },
  });
  for (const days of [0, 1.5, 40_000, "many"])
    await expect(
      caller.storage.save({ days: days as number, runs: null, workflows: {} }),
    ).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: "Invalid input. days: Must be a whole number from 1 to 36,500, or null for no limit.",
    });
});
