import { expect, test } from "vitest";
import type { ModelRequest } from "@/server/llm/model";
import { newStage } from "../testing";
import { graphOf, modelsOf, roles } from "./testing";

const crewOf = (samples: number) =>
  graphOf({
    crew: { process: "sample", samples, agents: [{ agent_id: "worker", role_name: "Worker" }] },
    answer: () => ({ text: "" }),
  });
const nth = ({ call_id }: ModelRequest) => Number(/sample-(\d+)/.exec(call_id)?.[1]);

test("what most answers of one agent agree on stands, and every answer is paid for", async () => {
  const models = modelsOf((request) => ({ text: nth(request) % 2 === 0 ? "Paris." : "paris" }));
  const { state } = await newStage({ models }).run(crewOf(3), { roles });
  expect(state.state.result).toBe("paris");
  expect(models.asked).toHaveLength(3);
  expect(new Set(models.asked).size).toBe(1);
  expect(state.totals.usage.requests).toBe(3);
  expect(state.run.warnings).toEqual([]);
});

test("an answer that fails is left out; where no two agree, a judge chooses, and it is said", async () => {
  const models = modelsOf((request) => {
    if (request.response) return { json: { choice: "answer_2", reason: "It is whole." } };
    return nth(request) === 1 ? { refusal: "no" } : { text: `answer ${nth(request)}` };
  });
  const { state } = await newStage({ models }).run(crewOf(3), { roles });
  expect(state.state.result).toBe("answer 3");
  expect(state.run.warnings).toEqual([expect.stringContaining("no two of 2 answers agree")]);
});

test("where every answer fails, the crew fails as they did", async () => {
  const { state } = await newStage({ models: modelsOf(() => ({ refusal: "no" })) }).run(crewOf(2), { roles });
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "MODEL_REFUSAL" });
});
