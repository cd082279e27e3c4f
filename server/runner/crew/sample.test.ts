import { describe, expect, test } from "vitest";
import type { RunEvent } from "@/server/domain/run/events";
import { ModelError, type ModelRequest } from "@/server/llm/model";
import { newStage } from "../testing";
import { graphOf, modelsOf, roles } from "./testing";

const crewOf = (samples: number) =>
  graphOf({
    crew: { process: "sample", samples, agents: [{ agent_id: "worker", role_name: "Worker" }] },
    answer: () => ({ text: "" }),
  });
const nth = ({ call_id }: ModelRequest) => Number(/sample-(\d+)/.exec(call_id)?.[1]);

test("the majority answer wins, and every sample is paid for", async () => {
  const models = modelsOf((request) => ({ text: nth(request) % 2 === 0 ? "Paris." : "paris" }));
  const { state } = await newStage({ models }).run(crewOf(3), { roles });
  expect(state.state.result).toBe("paris");
  expect(models.asked).toHaveLength(3);
  expect(new Set(models.asked).size).toBe(1);
  expect(state.totals.usage.requests).toBe(3);
  expect(state.run.warnings).toEqual([]);
});

test("failed samples are ignored, and a judge chooses with a warning if no two agree", async () => {
  const models = modelsOf((request) => {
    if (request.response) return { json: { choice: "answer_2", reason: "It is whole." } };
    return nth(request) === 1 ? { refusal: "no" } : { text: `answer ${nth(request)}` };
  });
  const { state } = await newStage({ models }).run(crewOf(3), { roles });
  expect(state.state.result).toBe("answer 3");
  expect(state.run.warnings).toEqual([expect.stringContaining("no two of 2 answers agree")]);
});

test("a crew fails with the error of its samples if every sample fails", async () => {
  const { state } = await newStage({ models: modelsOf(() => ({ refusal: "no" })) }).run(crewOf(2), { roles });
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "MODEL_REFUSAL" });
});

describe("samples of one agent", () => {
  const posts = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "post_sent" ? [event.payload.message] : []));
  const run = async (answer: Parameters<typeof modelsOf>[0], samples = 3) => {
    const models = modelsOf(answer);
    const done = await newStage({ models }).run(crewOf(samples), { roles });
    return { ...done, models, posted: posts(done.events) };
  };

  test("a post reports how many samples agree or which one a judge chose", async () => {
    const agreed = await run((request) => ({ text: nth(request) === 3 ? "Rome" : "Paris" }));
    expect(agreed.posted).toEqual(["2 of 3 answers agree: Paris"]);
    const judged = await run((request) =>
      request.response ? { json: { choice: "answer_3", reason: "so" } } : { text: `town ${nth(request)}` },
    );
    expect(judged.posted).toEqual(["no two of 3 answers agree; a judge chose answer 3: town 3"]);
    expect(judged.state.run.warnings).toEqual(["In crew no two of 3 answers agree; a judge chose answer 3."]);
    expect(judged.models.asked).toHaveLength(4);
  });

  test("a single successful sample wins without a judge or a warning", async () => {
    const alone = await run((request) => (nth(request) === 2 ? { text: "Paris" } : { refusal: "no" }));
    expect([alone.state.state.result, alone.models.asked.length, alone.state.run.warnings]).toEqual([
      "Paris",
      3,
      [],
    ]);
  });

  test("an authentication error in one sample ends the crew", async () => {
    const error = new ModelError({ code: "AUTH", message: "No.", retryable: false, user_action: "settings" });
    const { state } = await run((request) => (nth(request) === 2 ? { error } : { text: "Paris" }));
    expect(state.run.error?.code).toBe("AUTH");
  });

  test("each sample has its own seed if the agent has one", async () => {
    const seeds: (number | undefined)[] = [];
    const crew = (llm_config: object) =>
      graphOf({
        crew: {
          process: "sample",
          samples: 2,
          agents: [{ agent_id: "worker", role_name: "Worker", llm_config }],
        },
        answer: () => ({ text: "" }),
      });
    const models = modelsOf((request) => {
      seeds.push(request.llm_config.seed);
      return { text: "Paris" };
    });
    await newStage({ models }).run(crew({ seed: 0 }), { roles });
    await newStage({ models }).run(crew({ model: "m" }), { roles });
    expect(seeds).toEqual([0, 1, undefined, undefined]);
  });

  test("samples come from the crew's manager, or from its first agent without a manager", async () => {
    const by = async (manager?: { agent_id: string }) => {
      const models = modelsOf(() => ({ text: "Paris" }));
      const graph = graphOf({
        crew: { process: "sample", samples: 2, ...(manager ? { manager } : {}) },
        answer: () => ({ text: "" }),
      });
      const { events } = await newStage({ models }).run(graph, { roles });
      return [
        ...new Set(events.flatMap(({ type, agent_id }) => (type === "agent_started" ? [agent_id] : []))),
      ];
    };
    expect([await by(), await by({ agent_id: "checker" })]).toEqual([["lead"], ["checker"]]);
  });
});
