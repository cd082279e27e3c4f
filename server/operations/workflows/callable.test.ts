import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";

const calls = (workflow_id: string) =>
  draw("start > sub > end", {
    sub: { node_type: "sub_workflow", config: { workflow_id } },
    end: { input_keys: ["x"] },
  });

test("workflows are listed by name with what they ask for, return and run", async () => {
  const { workflows, ask } = newApi();
  const inner = workflows.create({
    name: "Zebra",
    graph: draw("start > t > end", { start: { output_keys: ["n"] } }),
  });
  const outer = workflows.create({ name: "Antelope", graph: calls(inner) });
  const { status, body } = await ask("GET", "/workflows/callable");
  expect(status).toBe(200);
  expect(body).toEqual({
    workflows: [
      { id: outer, name: "Antelope", inputs: [], outputs: ["x"], calls: [inner] },
      {
        id: inner,
        name: "Zebra",
        inputs: [{ key: "n", schema: {}, required: true }],
        outputs: ["n", "t"],
        calls: [],
      },
    ],
  });
});

test("checking a workflow finds those that it runs", async () => {
  const { workflows, ask } = newApi();
  const id = workflows.create({ name: "Outer", graph: calls("gone") });
  const problems = async () => {
    const { body } = await ask("POST", `/workflows/${id}/validate`);
    return body.problems.flatMap(({ code }: { code: string }) => (/WORKFLOW/.test(code) ? code : []));
  };
  expect(await problems()).toEqual(["E_UNKNOWN_WORKFLOW"]);
  workflows.save({ id, revision: 1, graph: calls(id) });
  expect(await problems()).toEqual(["E_WORKFLOW_CYCLE"]);
  const inner = workflows.create({ name: "Inner", graph: draw("start > t > end") });
  workflows.save({ id, revision: 2, graph: calls(inner) });
  expect(await problems()).toEqual([]);
  workflows.remove(inner);
  expect(await problems()).toEqual(["E_UNKNOWN_WORKFLOW"]);
});
