import { expect, test } from "vitest";
import { newApi } from "@/server/http-api/testing";
import { readServerCommand, serverCommand } from "./server-commands";

async function ended() {
  const api = newApi(() => '{"approval_status": "approved", "approver_comments": "Enjoy."}');
  const start = await api.ask("POST", `/workflows/${api.addApproval()}/runs`, {
    input: { user_request: "Vacation" },
  });
  const { run_id } = start.body as { run_id: string };
  await expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");
  const lines: string[] = [];
  const printed: string[] = [];
  const call = (...argv: string[]) =>
    serverCommand(argv, {
      async send(url, { method, body }) {
        const path = url.pathname.replace("/api/v1", "");
        const answer = await api.ask(method ?? "GET", path, body ? JSON.parse(body as string) : undefined);
        return new Response(JSON.stringify(answer.body), { status: answer.status });
      },
      env: {},
      print: (line) => printed.push(line),
      log: (line) => lines.push(line),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms / 30)),
    });
  return { api, run_id, call, lines, printed };
}

test("a run is forked and replayed from the terminal, each to its end", async () => {
  const { api, run_id, call, lines, printed } = await ended();
  const router = api.runs.events(run_id).find(({ type }) => type === "router_decided")!.node_id!;
  expect(await call("fork", run_id, "--at", `${router}:1`, "--set", "approval_status=rejected")).toBe(0);
  expect(lines.at(-1)).toBe("Completed");
  const [fork] = api.runs.family(run_id).filter(({ origin }) => origin?.kind === "fork");
  expect(api.runs.state(fork!.id)!.state.approval_status).toBe("rejected");
  expect(await call("replay", run_id)).toBe(0);
  const [replay] = api.runs.family(run_id).filter(({ origin }) => origin?.kind === "replay");
  expect(lines.slice(-2)).toEqual([`Replay of ${run_id}: ${replay!.id}`, "Completed"]);
  expect(JSON.parse(printed.at(-1)!)).toEqual(api.runs.state(run_id)!.run.output);
});

test("a replay says what people did that it does again, and what it does not", async () => {
  const { api, run_id, call, lines } = await ended();
  const router = api.runs.events(run_id).find(({ type }) => type === "router_decided")!.node_id!;
  await call("fork", run_id, "--at", `${router}:1`, "--set", "approval_status=rejected");
  const [fork] = api.runs.family(run_id).filter(({ origin }) => origin?.kind === "fork");
  lines.length = 0;
  await call("replay", fork!.id);
  expect(lines[1]).toBe("Not repeated: its state was changed where it was forked.");
});

test("what the server refuses is told with its sentence", async () => {
  const { call, run_id, lines } = await ended();
  expect(await call("fork", run_id, "--at", "nobody")).toBe(2);
  expect(lines).toEqual(["nobody did not begin in this run."]);
});

test("the command line says what it means", () => {
  expect(readServerCommand(["fork", "run_1", "--at", "57", "--set", "n=2", "--set", "who=Ann"])).toEqual({
    run: "run_1",
    path: "fork",
    body: { at: { seq: 57 }, state: { set: { n: 2, who: "Ann" } } },
    url: undefined,
    json: false,
  });
  expect(readServerCommand(["replay", "run_1", "--lenient"])?.body).toEqual({ mode: "lenient" });
  expect(() => readServerCommand(["replay", "run_1", "--at", "5"])).toThrow("are for a fork");
  expect(() => readServerCommand(["fork", "run_1", "--set", "n"])).toThrow("KEY=VALUE");
  expect(() => readServerCommand(["fork"])).toThrow("Say which run to fork.");
});
