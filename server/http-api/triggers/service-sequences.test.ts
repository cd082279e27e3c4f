import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { openInteractions } from "@/server/domain/run/questions/open-questions";
import { draw } from "@/server/domain/testing/drawing";
import { binOperations } from "@/server/operations/bin";
import { fakeTools } from "@/server/runner/testing";
import { defineTool } from "@/server/tools/define";
import { type Api, newApi } from "../testing";
import { serveHook } from "./webhooks";

/*
 * Random sequences of what people, senders and crashes do with a workflow that starts by webhook, against a model of what the
 * outside world must have seen.
 */

const person = { principal: { kind: "session" as const, id: "s" }, by: "ann", note() {} };
const HOST = "127.0.0.1:3000";

type Step =
  | { do: "deliver" | "test"; name: string }
  | { do: "draft" | "publish" | "rollback" | "toggle" | "rename" | "bin" | "fork" | "replay" | "crash" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("deliver" as const), name: fc.constantFrom(..."abcdefgh") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("test" as const), name: fc.constantFrom(..."xyz") }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...(["draft", "publish", "rollback", "toggle", "rename", "bin", "fork", "replay", "crash"] as const),
      ),
    }),
  },
);

/** Posts a text that names the delivery and the version of the workflow. */
const posting = (version: number) => ({
  ...draw("start > send > end", {
    start: { output_keys: ["name"] },
    send: {
      node_type: "tool_call",
      config: { tool_name: "post", args: { text: { $expr: `state.name + ' by ${version}'` } } },
      output_keys: ["posted"],
    },
  }),
});

function newWorld() {
  const sent: string[] = [];
  const post = defineTool({
    name: "post",
    description: "Posts a text.",
    source: "custom",
    input: z.object({ text: z.string() }),
    risk: "LOW",
    read_only: false,
    async execute({ text }) {
      sent.push(text);
      return "posted";
    },
  });
  return { sent, tools: fakeTools([post]) };
}

test("whatever is published, rolled back, forked, replayed, deleted or killed, each delivery posts once, by the version then published", {
  timeout: 120_000,
}, async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { sent, tools } = newWorld();
      let api = newApi(undefined, tools);
      api.triggers.start();
      let draft = 1;
      const id = api.workflows.create({ name: "W", graph: posting(draft) });
      const where = `/workflows/${id}`;
      const { body: trigger } = await api.ask("POST", `${where}/triggers`, { kind: "webhook" });
      const published: number[] = [];
      const runsAt = () => published.at(-1) ?? draft;
      const accepted = new Map<string, string>();
      const expected: string[] = [];
      let isOn = true;
      let isInBin = false;
      for (const one of steps) {
        switch (one.do) {
          case "deliver": {
            const { status } = await deliver(api, trigger.key, one.name);
            const isTaken = isOn && !isInBin;
            expect([one, status]).toEqual([one, isTaken ? 202 : 404]);
            if (isTaken && !accepted.has(one.name)) {
              accepted.set(one.name, `${one.name} by ${runsAt()}`);
              expected.push(`${one.name} by ${runsAt()}`);
            }
            break;
          }
          case "test": {
            if (isInBin) break;
            await api.ask("POST", `/triggers/${trigger.id}/test`, { input: { name: one.name } });
            expected.push(`${one.name} by ${runsAt()}`);
            break;
          }
          case "draft":
            if (!isInBin) expect((await api.ask("PUT", where, posting(++draft))).status).toBe(200);
            break;
          case "publish":
            if (!isInBin) {
              const { body } = await api.ask("POST", `${where}/versions`, {});
              if (body.created) published.push(draft);
              expect(body.number).toBe(published.length);
            }
            break;
          case "rollback":
            if (!isInBin && published.length > 0) {
              const [first = 1] = published;
              const { body } = await api.ask("POST", `${where}/versions/1/restore`, { publish: true });
              if (body.version.created) published.push(first);
              draft = first;
            }
            break;
          case "toggle":
            if (!isInBin) {
              isOn = !isOn;
              await api.ask("PUT", `/triggers/${trigger.id}`, { enabled: isOn });
            }
            break;
          case "rename":
            if (!isInBin) await api.ask("PUT", `${where}?name=Other`, posting(draft));
            break;
          case "bin":
            if (isInBin) binOperations.restore.run(api, { kind: "workflow", id }, person);
            else {
              await quiet(api, id);
              await api.ask("DELETE", where);
            }
            isInBin = !isInBin;
            break;
          case "fork": {
            const [run] = await quiet(api, id);
            if (run) expect((await api.ask("POST", `/runs/${run.id}/fork`, {})).status).toBe(202);
            break;
          }
          case "replay":
            if (!isInBin) {
              await quiet(api, id);
              expect((await api.ask("POST", `/triggers/${trigger.id}/replay`, {})).status).toBe(200);
            }
            break;
          case "crash":
            api = await afterKill(api, tools);
            break;
        }
      }
      const runs = await quiet(api, id);
      expect([...sent].sort()).toEqual([...expected].sort());
      const own = runs.filter(({ origin }) => origin === null);
      expect(own.map(({ final_status }) => final_status)).toEqual(expected.map(() => "COMPLETED"));
      api.triggers.stop();
      await api.host.drain(0);
    }),
    {
      numRuns: 25,
      seed: 28,
      endOnFailure: true,
    },
  );
});

const deliver = (api: Api, key: string, name: string) =>
  serveHook(
    new Request(`http://${HOST}/hooks/${key}`, {
      method: "POST",
      headers: {
        ...{ host: HOST, "content-type": "application/json", "webhook-id": name },
        ...{ "x-forwarded-for": key, "content-length": String(JSON.stringify({ name }).length) },
      },
      body: JSON.stringify({ name }),
    }),
    key,
    () => api,
  );

/** The runs of the workflow once all have ended, newest first. Forks ask whether to post again; nobody wants that. */
const quiet = (api: Api, workflow_id: string) =>
  vi.waitFor(
    () => {
      const runs = api.runs.list({ workflow_id, limit: 200 });
      for (const { id, waits_for } of runs)
        if (waits_for === "person")
          for (const { requested } of openInteractions(api.runs.state(id)!))
            api.host.steering.answer(id, requested.interaction_id, requested.fingerprint, {
              ...{ answer: "reject", by: "ann" },
            });
      expect(runs.filter(({ status }) => status !== "finished")).toEqual([]);
      return runs;
    },
    { timeout: 5_000, interval: 5 },
  );

async function afterKill(api: Api, tools: ReturnType<typeof fakeTools>): Promise<Api> {
  api.triggers.stop();
  await api.host.drain(0);
  const next = newApi(undefined, tools, api.db);
  next.host.recover();
  next.triggers.start();
  return next;
}
