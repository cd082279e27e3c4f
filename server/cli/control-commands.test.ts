import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";
import { controlCommand, readControlCommand } from "./control-commands";

const graph = draw("start > crew > paid > r; r aside> aside > end; r east> east > end", {
  crew: writersNode(),
  paid: { node_type: "wait", output_keys: ["r"], config: { signal: "paid" } },
  aside: { output_keys: ["by"], config: { set: { by: "'aside'" } } },
  east: { output_keys: ["by"], config: { set: { by: "'east'" } } },
});

test("from the terminal a run of a server is held, its team changed, its agents told, and sent another way", async () => {
  const asked: string[] = [];
  const api = newApi(({ messages }) => {
    asked.push(JSON.stringify(messages));
    return "done";
  });
  for (const name of ["Writer", "Reader", "Editor"]) api.roles.put(RoleDefinition.parse({ name }));
  const workflow = api.workflows.create({ name: "x", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, {
    input: {},
    config: { breakpoints: [{ on: "node_start", node_id: "crew" }] },
  });
  const id = body.run_id as string;
  const lines: string[] = [];
  const call = (...argv: string[]) =>
    controlCommand(argv, {
      async send(url, { method, body: sent }) {
        const path = url.pathname.replace("/api/v1", "");
        const answer = await api.ask(method ?? "GET", path, sent ? JSON.parse(sent as string) : undefined);
        return new Response(JSON.stringify(answer.body), { status: answer.status });
      },
      env: {},
      print: (line) => lines.push(line),
      log: (line) => lines.push(line),
      wait: () => Promise.resolve(),
    });
  const stands = (status: string) => expect.poll(() => api.runs.find(id)?.status).toBe(status);
  await stands("paused");
  expect(await call("team", id, "add", "Editor", "--as", "eve", "--instructions", "Be strict.")).toBe(0);
  expect(await call("team", id, "remove", "ann")).toBe(2);
  expect(await call("instruct", id, "Be", "brief.", "--agent", "ann")).toBe(0);
  expect(await call("next", id, "crew", "end")).toBe(2);
  expect(await call("resume", id)).toBe(0);
  await stands("waiting");
  expect(await call("pause", id)).toBe(0);
  expect(await call("signal", id, "paid", "--data", "aside")).toBe(0);
  expect(await call("step", id)).toBe(0);
  await stands("paused");
  expect(await call("next", id, "r", "east")).toBe(0);
  expect(await call("resume", id)).toBe(0);
  await stands("finished");
  const { state, crews } = api.runs.state(id)!;
  expect([state.by, Object.values(crews)[0]!.members.map(({ agent_id }) => agent_id)]).toEqual([
    "east",
    ["ann", "bob", "eve"],
  ]);
  expect(asked[0]).toContain("Be brief.");
  expect(lines.filter((line) => !line.includes(" is "))).toEqual([
    'ann still has to do "write" of the plan. Give it to somebody else first.',
    "No way leads from crew to end. It leads to: paid.",
  ]);
});

const read = (...argv: string[]) => readControlCommand(argv);

test.each([
  [["pause", "run_1", "--now"], "pause", { now: true }],
  [["step", "run_1", "--turn"], "step", { granularity: "turn" }],
  [["skip", "run_1", "ask", "--set", "n=2"], "skip", { node_id: "ask", output: { n: 2 } }],
  [["skip", "run_1", "r#2", "--label", "yes"], "skip", { activation_id: "r#2", output: {}, labels: ["yes"] }],
  [["retry", "run_1", "ask"], "retry", { node_id: "ask" }],
  [["next", "run_1", "crew", "--agent", "ann"], "override", { node_id: "crew", agent_id: "ann" }],
  [["instruct", "run_1", "Go on."], "inject", { target: { run: true }, text: "Go on." }],
  [["signal", "run_1", "paid"], "signals", { name: "paid" }],
  [
    ["team", "run_1", "change", "ann", "--model", "big", "--tools", "calculator, current_time"],
    "team",
    {
      edit: {
        kind: "change",
        agent_id: "ann",
        patch: { llm_config: { model: "big" }, tools: ["calculator", "current_time"] },
      },
    },
  ],
])("%j is understood", (argv, path, body) =>
  expect(read(...argv)).toMatchObject({ run: "run_1", path, body }),
);

test.each([
  [["pause"], "Say which run"],
  [["pause", "run_1", "now"], "one too many"],
  [["resume", "run_1", "--turn"], "--turn is not for resume"],
  [["next", "run_1", "crew"], "Something is missing"],
  [["instruct", "run_1"], "Say what they are to do"],
  [["team", "run_1", "promote", "ann"], "add ROLE"],
])("%j is refused with a sentence", (argv, message) => expect(() => read(...argv)).toThrow(message));
