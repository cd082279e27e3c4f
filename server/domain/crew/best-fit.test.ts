import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { fitness } from "./best-fit";

test("a role matches a task by its description, responsibilities and tools, not only its name", () => {
  const scout = RoleDefinition.parse({
    name: "Scout",
    description: "Gathers what is known about a question",
    tools: ["web_search"],
  });
  const scribe = RoleDefinition.parse({ name: "Scribe", responsibilities: ["Write clear reports"] });
  const best = (task: string) => (fitness(task, scout) > fitness(task, scribe) ? "scout" : "scribe");
  expect(best("Search the web for prices")).toBe("scout");
  expect(best("Gathering what is known")).toBe("scout");
  expect(best("Writing a report of one page")).toBe("scribe");
  expect(fitness("the and of", scout)).toBe(0);
});
