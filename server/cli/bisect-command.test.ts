import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";
import { bisectCommand, readBisectCommand } from "./bisect-command";

test("the terminal says which step made the difference between two runs of a server", async () => {
  const api = newApi(() => "done");
  const workflow = api.workflows.create({
    name: "x",
    graph: draw("start > a > end", { a: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] } }),
  });
  const run = async (n: number) => {
    const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: { n } });
    const { run_id } = body as { run_id: string };
    await expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");
    return run_id;
  };
  const [good, bad] = [await run(1), await run(8)];
  const lines: string[] = [];
  const call = (...argv: string[]) =>
    bisectCommand(argv, {
      async send(url, { method, body }) {
        const path = url.pathname.replace("/api/v1", "");
        const answer = await api.ask(method ?? "GET", path, body ? JSON.parse(body as string) : undefined);
        return new Response(JSON.stringify(answer.body), { status: answer.status });
      },
      env: {},
      print: (line) => lines.push(line),
      log: (line) => lines.push(line),
      wait: () => Promise.resolve(),
    });
  expect(await call("bisect", bad, "--good", good, "--when", "state.n < 5")).toBe(0);
  expect(lines).toEqual([
    "The input makes the difference: as in the good run the expectation holds, as in the bad run it fails.",
    "  The input",
    '    good: {"n":1}',
    '    bad:  {"n":8}',
    "2 replays tried, 1 difference.",
  ]);
  expect(await call("bisect", bad, "--good", good, "--status", "completed")).toBe(2);
  expect(lines.at(-1)).toBe(
    "In the bad run this holds as well. It ended as Completed. Choose what is wrong in it.",
  );
});

const read = (...argv: string[]) => readBisectCommand(["bisect", "run_bad", ...argv]);

test("what has to hold is said in one way, and what is none is refused with a sentence", () => {
  expect(read("--good", "run_good", "--visits", "a", "--visits", "b")?.expect).toEqual({
    kind: "path",
    nodes: ["a", "b"],
    mode: "visited",
  });
  expect(
    read("--good", "run_good", "--expect", '{"kind": "tools", "tool": "search", "called": false}'),
  ).toMatchObject({
    bad: "run_bad",
    good: "run_good",
    expect: { kind: "tools", tool: "search", called: false },
  });
  expect(() => read("--status", "ERROR")).toThrow("Say which run was good");
  expect(() => read("--good", "run_good")).toThrow("Say one thing that holds");
  expect(() => read("--good", "run_good", "--status", "ERROR", "--never", "a")).toThrow("Say one thing");
  expect(() => read("--good", "run_good", "--expect", "luck")).toThrow("nothing that could be looked for");
});
