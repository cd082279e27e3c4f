import { answerText } from "@/server/domain/run/questions/question-text";
import type { Agent } from "./agent";

/** Tells an agent what people have answered meanwhile to questions with which it did not wait. */
export function hearLateAnswers(agent: Agent): void {
  const { run, about, heard } = agent;
  const own = `${run.activationId}/${run.attempt}/`;
  for (const { id, requested, answered, agent_id, task_id } of Object.values(run.s.interactions)) {
    if (requested.mode !== "advisory" || !answered || heard.has(id) || !id.startsWith(own)) continue;
    if (agent_id !== about.agent_id || task_id !== about.task_id) continue;
    heard.add(id);
    const content = `About your earlier question (${requested.title}):\n${answerText(answered, requested)}`;
    agent.addMessage({ role: "user", content }, "person");
  }
}
