import { projectPrompt } from "@/server/domain/agent/project";
import { answerPrompt, systemPrompt, taskPrompt } from "@/server/domain/agent/prompt";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import type { JsonObject } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import { templateKeys } from "@/server/domain/text/template/template";
import { type OutputShape, outputSchema } from "@/server/llm/tool-calls/structured-output";
import type { Grants } from "@/server/tools/policy";
import type { Agent } from "../agent";
import { recall } from "../recall";
import { taskIdOf } from "./prompt-edition";

/** A value that is longer than this is written once in a task, however often its template names it; characters. */
const REPEATED_AT_MOST = 200;

/** The schema of an agent's answer. */
export function shapeOf({ task, role, run }: Agent): OutputShape {
  return task.answer_schema
    ? { kind: "json", schema: task.answer_schema }
    : outputSchema([...task.output_keys], {
        ...defined({ nodeSchema: task.output_schema, roleSchema: role.output_schema }),
        stateProperties: run.stateProperties,
      });
}

/** The messages that every work begins with: who the agent is, what was said before, and its task. */
export function* openConversation(
  agent: Agent,
  shape: OutputShape,
  withheld: Grants["withheld"],
): Flow<void> {
  const { run, task, role } = agent;
  const isBefore3 = !isSince(run.s.run, 3);
  const memory = yield* recall(agent);
  agent.addMessage(
    {
      role: "system",
      content: systemPrompt(role, {
        // Whoever judges is not the member in whose place it works.
        ...defined({ agent_id: task.role && !isBefore3 ? undefined : task.agent_id }),
        backstory: task.backstory ?? task.config?.backstory,
        // Who judges or routes does no work of the project.
        project: task.role ? "" : projectPrompt(run.s.graph.project_context),
        team: task.team,
        how: task.how,
        hasTools: agent.mayCall,
        withheld,
        isStance: task.is_stance,
        isBefore3,
        date: isSince(run.s.run, 4) ? new Date(run.s.run.created_at).toISOString().slice(0, 10) : undefined,
        now: run.now,
      }),
    },
    "system",
  );
  for (const message of task.history ?? []) agent.addMessage(message, "handoff");
  agent.addMessage({ role: "user", content: taskOf(agent, shape, memory) }, "template");
  for (const { name, shown, total } of agent.given.cuts)
    run.warn(
      "VALUE_CUT",
      `"${name}" is too long for ${task.agent_id}'s model: it received the first ${shown} of ${total} characters${agent.mayCall ? " and can read the rest" : " and has no tool to read the rest"}.`,
    );
}

function taskOf(agent: Agent, shape: OutputShape, memory: string): string {
  const { run, task, given } = agent;
  const all = task.inputs ?? run.input;
  const { earlier = {}, goal } = task;
  const named = templateKeys(task.template ?? "").filter((key) => !Object.hasOwn(all, key));
  const values = [
    ...Object.values(all),
    ...named.map((key) => run.state[key] ?? null),
    ...Object.values(earlier),
    ...(goal === undefined ? [] : [goal]),
  ];
  given.makeRoom(values, agent.reads, agent.mayCall);
  const { text, shown } = renderTask(agent);
  const hidden = new Set([...shown, ...(task.shown ?? [])]);
  const inputs: JsonObject = task.continues
    ? {}
    : Object.fromEntries(Object.entries(all).filter(([key]) => !hidden.has(key)));
  const prompt = taskPrompt({
    id: taskIdOf(run, task.agent_id),
    task: text,
    from: task.from,
    goal,
    expected_output: task.expected_output,
    inputs,
    memory,
    earlier,
    status: task.status,
    answer: task.continues ? "" : answerOf(agent, shape),
    write: given,
  });
  if (given.cuts.length > 0 && agent.mayCall) agent.learn(given.tool);
  return prompt;
}

/** The text of a task, and the inputs that it contains whole. */
function renderTask(agent: Agent): { text: string; shown: Set<string> } {
  const { run, task, given } = agent;
  const shown = new Set<string>();
  if (task.prompt !== undefined || task.template === undefined)
    return { text: task.prompt ?? task.task, shown };
  const text = run.render(task.template, ({ path, text: value, isWhole }) => {
    const name = path.join(".");
    if (shown.has(name) && value.length > REPEATED_AT_MOST) return `${agent.fences.opening(name)} above`;
    if (isWhole) shown.add(name);
    return given.named(name, value);
  });
  return { text, shown };
}

function answerOf({ task, run }: Agent, shape: OutputShape): string {
  if (shape.kind === "json")
    return answerPrompt({ schema: shape.schema }, { isBefore4: !isSince(run.s.run, 4) });
  const isNamed = task.output_keys.includes(shape.key) && shape.key !== task.task_id;
  return answerPrompt(isNamed ? { key: shape.key } : {});
}
