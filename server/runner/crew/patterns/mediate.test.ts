import { describe, expect, test } from "vitest";
import { agent, crewGraph, newScriptedStage, role } from "@/server/conformance/stage";
import type { Json } from "@/server/domain/base/values";

const team = [agent("Manager"), agent("worker")];
const decision = (more: { send_to: string; message: string; stop: string | null; satisfied?: boolean }) => {
  const { satisfied = false, ...rest } = more;
  const verdict = (answer: boolean) => ({ answer, reason: "so" });
  return {
    json: {
      plan: ["answer"],
      current_plan_step: "answer",
      ledger: {
        is_request_satisfied: verdict(satisfied),
        is_in_loop: verdict(false),
        is_progress_being_made: verdict(true),
      },
      ...rest,
    } as Json,
  };
};

async function begin(...steps: Parameters<typeof newScriptedStage>[0]) {
  const stage = newScriptedStage(steps);
  const id = stage.start(crewGraph({ process: "hierarchical", agents: team }), {
    roles: team.map(({ agent_id }) => role(agent_id)),
  });
  await expect.poll(() => stage.store.find(id)?.status).toMatch(/waiting|finished/);
  const state = () => stage.store.state(id)!;
  return {
    ...stage,
    state,
    question: () => Object.values(state().interactions)[0],
    async answer(message: string) {
      const open = Object.values(state().interactions).find(({ status }) => status === "open")!;
      stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
        answer: "approve",
        by: "ann",
        message,
      });
      await stage.host.settled(id);
    },
  };
}

describe("a manager's message to the person", () => {
  test("a run waits for the answer to a manager's question and then continues", async () => {
    const crew = await begin(
      decision({ send_to: "User", message: "Which owl do you mean?", stop: null }),
      decision({ send_to: "User", message: "The barn owl is white.", stop: "Completed", satisfied: true }),
    );
    expect(crew.question()!.requested).toMatchObject({ why: "Which owl do you mean?" });
    await crew.answer("The barn owl");
    expect(crew.models.calls[1]!.messages.at(-1)!.content).toContain("User answers:\n<answer>The barn owl");
    expect(crew.state().run.final_status).toBe("COMPLETED");
    expect(crew.state().state.result).toBe("The barn owl is white.");
  });

  test("a manager can't send a final answer while its ledger is unsatisfied", async () => {
    const crew = await begin(
      decision({ send_to: "User", message: "Which owl?", stop: "Completed" }),
      decision({ send_to: "User", message: "Which owl?", stop: "Clarification" }),
      decision({ send_to: "User", message: "White.", stop: "Completed", satisfied: true }),
    );
    expect(crew.models.calls[1]!.messages.at(-1)!.content).toContain("the ledger says that it is not");
    await crew.answer("The barn owl");
    expect(crew.state().state.result).toBe("White.");
  });

  test("a manager that insists on a final answer with an unsatisfied ledger fails the run", async () => {
    const stubborn = decision({ send_to: "User", message: "Which owl?", stop: "Completed" });
    const crew = await begin(stubborn, stubborn, stubborn);
    expect(crew.state().run).toMatchObject({ final_status: "ERROR", reason_code: "OUTPUT_INVALID" });
  });
});

test("a message without a stop counts as the answer if the request is satisfied", async () => {
  const crew = await begin(decision({ send_to: "User", message: "White.", stop: null, satisfied: true }));
  expect(crew.state().state.result).toBe("White.");
});
