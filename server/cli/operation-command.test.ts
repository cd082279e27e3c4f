import { expect, test, vi } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { engineOf, workerOf } from "@/server/domain/testing/engine";
import { newApi } from "@/server/http-api/testing";
import { COMMANDS, readArguments } from "./command-forms";
import { operationCommand } from "./operation-command";
import { engineLines } from "./output/outcomes";

/** A server, and a terminal that talks to it. */
function newTerminal(answer?: Parameters<typeof newApi>[0]) {
  const api = newApi(answer);
  const printed: string[] = [];
  const logged: string[] = [];
  const call = (...argv: string[]) =>
    operationCommand(argv, {
      async send(url, { method, body }) {
        const path = url.pathname.replace("/api/v1", "");
        const response = await api.ask(method ?? "GET", path, body ? JSON.parse(body as string) : undefined);
        return new Response(JSON.stringify(response.body), { status: response.status });
      },
      env: {},
      print: (line) => printed.push(line),
      log: (line) => logged.push(line),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms / 30)),
    });
  const start = async (workflow: string, body: object) => {
    const { run_id } = (await api.ask("POST", `/workflows/${workflow}/runs`, body)).body as {
      run_id: string;
    };
    return run_id;
  };
  const until = (id: string, status: string) => expect.poll(() => api.runs.find(id)?.status).toBe(status);
  return { api, call, printed, logged, start, until };
}

test("another server gets a token only by the name of its variable", async () => {
  const sent: unknown[] = [];
  const call = (...options: string[]) =>
    operationCommand(["pause", "run_1", ...options], {
      async send(url, { headers }) {
        sent.push([url.host, new Headers(headers).get("authorization")]);
        return new Response("{}");
      },
      env: { TROUPE_API_TOKEN: "own", THEIRS: "theirs" },
      print() {},
      log() {},
      wait: async () => {},
    });
  await call();
  await expect(call("--url", "https://troupe.example")).rejects.toThrow("--token-env NAME");
  await call("--url", "https://troupe.example", "--token-env", "THEIRS");
  expect(sent).toEqual([
    ["127.0.0.1:3000", "Bearer own"],
    ["troupe.example", "Bearer theirs"],
  ]);
});

test("the terminal controls a server's run", async () => {
  const graph = draw("start > crew > paid > r; r aside> aside > end; r east> east > end", {
    crew: writersNode(),
    paid: { node_type: "wait", output_keys: ["r"], config: { signal: "paid" } },
    aside: { output_keys: ["by"], config: { set: { by: "'aside'" } } },
    east: { output_keys: ["by"], config: { set: { by: "'east'" } } },
  });
  const asked: string[] = [];
  const { api, call, logged, start, until } = newTerminal(({ messages }) => {
    asked.push(JSON.stringify(messages));
    return "done";
  });
  for (const name of ["Writer", "Reader", "Editor"]) api.roles.put(RoleDefinition.parse({ name }));
  const id = await start(api.workflows.create({ name: "x", graph }), {
    input: {},
    config: { breakpoints: [{ on: "node_start", node_id: "crew" }] },
  });
  await until(id, "paused");
  expect(await call("team", id, "add", "Editor", "--as", "eve", "--instructions", "Be strict.")).toBe(0);
  expect(await call("team", id, "remove", "ann")).toBe(2);
  expect(await call("instruct", id, "Be", "brief.", "--agent", "ann")).toBe(0);
  expect(await call("next", id, "crew", "end")).toBe(2);
  expect(await call("set", id, "n=2", "who=Ann")).toBe(0);
  expect(await call("remove", id, "who")).toBe(0);
  expect(await call("resume", id)).toBe(0);
  await until(id, "waiting");
  expect(await call("pause", id)).toBe(0);
  expect(await call("signal", id, "paid", "aside")).toBe(0);
  expect(await call("step", id)).toBe(0);
  await until(id, "paused");
  expect(await call("next", id, "r", "east")).toBe(0);
  expect(await call("resume", id)).toBe(0);
  await until(id, "finished");
  const { state, crews } = api.runs.state(id)!;
  expect(state).toMatchObject({ by: "east", n: 2 });
  expect(state).not.toHaveProperty("who");
  expect(Object.values(crews)[0]!.members.map(({ agent_id }) => agent_id)).toEqual(["ann", "bob", "eve"]);
  expect(asked[0]).toContain("Be brief.");
  expect(logged.filter((line) => !/ is (?!still assigned)/.test(line))).toEqual([
    'ann is still assigned to the plan\'s task "write". Reassign it first.',
    "crew isn't connected to end. It's connected to: paid.",
  ]);
});

async function newFinishedRun() {
  const terminal = newTerminal(() => '{"approval_status": "approved", "approver_comments": "Enjoy."}');
  const { api, start, until } = terminal;
  const run_id = await start(api.addApproval(), { input: { user_request: "Vacation" } });
  await until(run_id, "finished");
  const router = api.runs.events(run_id).find(({ type }) => type === "router_decided")!.node_id!;
  return { ...terminal, run_id, router };
}

test("the terminal forks and replays a run and follows the new run to its end", async () => {
  const { api, run_id, router, call, logged, printed } = await newFinishedRun();
  expect(await call("fork", run_id, "--at", `${router}:1`, "--set", "approval_status=rejected")).toBe(0);
  expect(logged.at(-1)).toBe("Completed");
  const [fork] = api.runs.family(run_id).filter(({ origin }) => origin?.kind === "fork");
  expect(api.runs.state(fork!.id)!.state.approval_status).toBe("rejected");
  expect(await call("replay", run_id)).toBe(0);
  const [replay] = api.runs.family(run_id).filter(({ origin }) => origin?.kind === "replay");
  expect(logged.slice(-2)).toEqual([`Replay of ${run_id}: ${replay!.id}`, "Completed"]);
  expect(JSON.parse(printed.at(-1)!)).toEqual(api.runs.state(run_id)!.run.output);
  await call("replay", fork!.id);
  expect(logged.at(-2)).toBe("Not repeated: state edits made at the fork.");
});

test("a server error is printed and exits with code 2", async () => {
  const { api, call, run_id, logged } = await newFinishedRun();
  expect(await call("fork", run_id, "--at", "nobody")).toBe(2);
  vi.spyOn(api, "ask").mockResolvedValue({ status: 401, body: {}, headers: new Headers() });
  expect(await call("engine")).toBe(2);
  expect(logged).toEqual([
    "nobody didn't start in this run.",
    "Invalid token. Set TROUPE_API_TOKEN to one of the server's API tokens.",
  ]);
});

test("the engine's status determines the exit code, and --json prints all of it", async () => {
  const { api, call, printed } = newTerminal();
  expect(await call("engine")).toBe(0);
  expect(printed.splice(0)).toEqual(["Engine: This server"]);
  const state = engineOf({ ok: false, message: "No worker is there.", workers: [] });
  vi.spyOn(api.engine, "state").mockReturnValue(state);
  expect(await call("engine", "--json")).toBe(1);
  expect(JSON.parse(printed.join("\n"))).toEqual(state);
});

test("the status of the engine and its workers is printed line by line", () => {
  const now = 10_000_000;
  const state = engineOf({
    message: "Restate does not answer.",
    workers: [
      workerOf("gpu-1", { labels: ["gpu", "eu-west"], seen_at: now - 2_000 }),
      workerOf("old", { state: "gone", version: "0.9.0", seen_at: now - 9_000_000 }),
    ],
    at_work: 1,
    outbox: { waiting: 4, oldest_at: now - 180_000, away_since: null },
  });
  const stalled = { run_id: "run_1", state: "tried_again", tries: 7, cause: "No worker." } as const;
  const troubled = [{ ...stalled, workflow_id: null, workflow_name: "Approval" }];
  expect(engineLines({ ...state, troubled }, now)).toEqual([
    "Engine: 1 worker over Restate",
    "Restate does not answer.",
    "Active on workers: 1 run",
    "Outbox: 4 messages waiting for the engine; the oldest arrived 3 min ago",
    "Workers:",
    "  gpu-1: Working; 3 of 16 runs; 210 MB; Troupe 1.0.0; last heartbeat 2 s ago; gpu, eu-west",
    "  old: Offline: no heartbeat; Troupe 0.9.0; last heartbeat 3 h ago",
    "Stalled runs:",
    "  run_1 (Approval): No worker. Retrying automatically; 7 tries so far.",
  ]);
});

test("the terminal says which step made the difference between two runs", async () => {
  const { api, call, start, until, printed, logged } = newTerminal(() => "done");
  const graph = draw("start > a > end", { a: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] } });
  const workflow = api.workflows.create({ name: "x", graph });
  const [good, bad] = [
    await start(workflow, { input: { n: 1 } }),
    await start(workflow, { input: { n: 8 } }),
  ];
  await until(good, "finished");
  await until(bad, "finished");
  expect(await call("bisect", bad, "--good", good, "--when", "state.n < 5")).toBe(0);
  expect(printed).toEqual([
    "Input makes the difference: the expectation passes with the good run's value and fails with the bad run's.",
    "  Input",
    '    good: {"n":1}',
    '    bad:  {"n":8}',
    "2 replays tried, 1 difference.",
  ]);
  expect(await call("bisect", bad, "--good", good, "--status", "completed")).toBe(2);
  expect(logged.at(-1)).toBe(
    "This is also true in the bad run. Finished as Completed. Choose an expectation that fails in the bad run.",
  );
  expect(await call("bisect", bad, "--good", good)).toBe(2);
  expect(await call("bisect", bad, "--good", good, "--expect", "luck")).toBe(2);
});

test("every command's arguments map to fields of its operation", () => {
  for (const { operation, name, parameters, options } of COMMANDS) {
    const flags = Object.entries(options).map(([option, { type, isRequired = false }]) => ({
      isRequired,
      argv: type === "boolean" ? [`--${option}`] : [`--${option}`, "a=1"],
    }));
    const required = flags.filter(({ isRequired }) => isRequired).flatMap(({ argv }) => argv);
    const others = flags.filter(({ isRequired }) => !isRequired).map(({ argv }) => argv);
    for (const flag of [[], ...others]) {
      // An option may stand for an optional word.
      const given = parameters.filter(({ isOptional }) => !isOptional || flag.length === 0);
      const texts = given.map(({ text, isLiteral }) =>
        isLiteral ? text : text.startsWith("@") ? "@a" : "a=1",
      );
      const input = readArguments([name, ...texts, ...required, ...flag])!.input;
      const { shape } = operation.input as { shape?: object };
      expect(Object.keys(shape ?? {})).toEqual(expect.arrayContaining(Object.keys(input)));
    }
  }
});

test("every command has a help text", async () => {
  const { call, printed } = newTerminal();
  expect(await call("team", "--help")).toBe(0);
  expect(printed[0]).toContain("team RUN remove AGENT");
  expect(printed[0]).toContain("TROUPE_API_TOKEN");
});

test.each<[string[], object]>([
  [["pause", "run_1", "--now"], { now: true }],
  [["resume", "run_1"], {}],
  [["step", "run_1", "--turn"], { granularity: "turn" }],
  [["set", "run_1", "n=2", "text=a = b"], { set: { n: 2, text: "a = b" } }],
  [["skip", "run_1", "ask", "--set", "n=2"], { node_id: "ask", output: { n: 2 } }],
  [["skip", "run_1", "ask", '{"n": 2}'], { node_id: "ask", output: { n: 2 } }],
  [["skip", "run_1", "r#2", "--label", "yes, now"], { activation_id: "r#2", labels: ["yes, now"] }],
  [["retry", "run_1", "ask"], { node_id: "ask" }],
  [["next", "run_1", "crew", "--agent", "ann"], { node_id: "crew", agent_id: "ann" }],
  [["instruct", "run_1", "Go on."], { target: { run: true }, text: "Go on." }],
  [["instruct", "run_1", "Go", "on.", "--node", "ask"], { target: { node_id: "ask" }, text: "Go on." }],
  [["signal", "run_1", "paid"], { name: "paid" }],
  [["signal", "run_1", "paid", "--data", '{"by": "ann"}'], { name: "paid", data: { by: "ann" } }],
  [["team", "run_1", "add", "Code Reviewer"], { edit: { kind: "add", role_name: "Code Reviewer" } }],
  [
    ["team", "run_1", "remove", "ann", "--crew", "c"],
    { node_id: "c", edit: { kind: "remove", agent_id: "ann" } },
  ],
  [
    ["team", "run_1", "change", "ann", "--model", "big", "--tools", "calculator, current_time"],
    {
      edit: {
        kind: "change",
        agent_id: "ann",
        patch: { llm_config: { model: "big" }, tools: ["calculator", "current_time"] },
      },
    },
  ],
  [
    ["fork", "run_1", "--at", "57", "--set", "n=2", "--set", "who=Ann"],
    { at: { seq: 57 }, state: { set: { n: 2, who: "Ann" } } },
  ],
  [["fork", "run_1", "--at", "a", "--latest"], { at: { node_id: "a" }, graph: "latest" }],
  [["replay", "run_1", "--lenient"], { mode: "lenient" }],
  [["cancel", "run_1", "Too", "late"], { reason: "Too late" }],
  [
    ["bisect", "run_1", "--good", "g", "--visits", "a", "--visits", "b"],
    { good: "g", expect: { kind: "path", nodes: ["a", "b"], mode: "visited" } },
  ],
  [
    ["bisect", "run_1", "--good", "g", "--expect", '{"kind": "tools", "tool": "search", "called": false}'],
    { good: "g", expect: { kind: "tools", tool: "search", called: false } },
  ],
])("%j is parsed as a command", (argv, input) =>
  expect(readArguments(argv)?.input).toEqual({ run_id: "run_1", ...input }),
);

test.each([
  [["pause"], "Missing RUN. Usage: pause RUN"],
  [["pause", "run_1", "now"], 'Unexpected argument "now".'],
  [["resume", "run_1", "--turn"], "Unknown option '--turn'"],
  [["replay", "run_1", "--at", "5"], "Unknown option '--at'"],
  [["next", "run_1"], "Missing NODE. Usage: next RUN"],
  [["instruct", "run_1"], "Missing TEXT. Usage: instruct RUN"],
  [["team", "run_1", "remove", "ann", "--model", "big"], "team has no option --model."],
  [["team", "run_1", "promote", "ann"], "team RUN add ROLE"],
  [["fork", "run_1", "--set", "n"], "KEY=VALUE"],
  [["fork"], "Missing RUN. Usage: fork RUN"],
  [["cancel"], "Missing RUN. Usage: cancel RUN"],
  [
    ["bisect", "run_1", "--good", "g", "--status", "ERROR", "--never", "a"],
    "never conflicts with another argument.",
  ],
  [["bisect", "run_1", "--status", "ERROR"], "Missing option --good."],
  [["engine", "worker-1"], 'Unexpected argument "worker-1".'],
])("%j is rejected with a message", (argv, message) => expect(() => readArguments(argv)).toThrow(message));
