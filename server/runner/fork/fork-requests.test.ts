import { expect, test } from "vitest";
import { z } from "zod";
import { emptyDb } from "@/db/testing";
import { call, calls, crewGraph, role } from "@/server/conformance/stage";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import type { ModelRequest } from "@/server/llm/model";
import type { ScriptedStep } from "@/server/llm/scripted";
import { keepResult } from "@/server/store/runs/tool-results";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { sized } from "@/server/testing/thorough";
import { fileTools } from "@/server/tools/builtin/files";
import { defineTool } from "@/server/tools/define";
import { newToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { modelsOf } from "../crew/testing";
import { newStage } from "../testing";

const text = (content: string): ScriptedStep => ({ text: content });
const promptText = ({ messages }: ModelRequest) => messages.map(({ content }) => content).join("\n");
const turn = ({ messages }: ModelRequest) =>
  messages.filter((message) => message.role === "assistant").length;
const artifact = (request: ModelRequest) => /art_[0-9a-z]+/.exec(promptText(request))![0];

/** Agents whose next requests name their files. */
const writer = (request: ModelRequest): ScriptedStep =>
  [
    () => calls(call("file_write", { path: "notes.md", content: "one" })),
    () => calls(call("file_write", { path: "notes.md", content: "two", append: true })),
    () => calls(call("create_artifact", { path: "report.md", content: artifact(request) })),
    () => calls(call("file_read", { path: "report.md" })),
    () => text(`It is in ${artifact(request)}.`),
  ][turn(request)]!();
const reader = (request: ModelRequest): ScriptedStep =>
  [
    () => calls(call("dump")),
    () => calls(call("read_artifact", { artifact_id: artifact(request), offset: 50_000 })),
    () => text(`It ends so: ${promptText(request).slice(-40)}`),
  ][turn(request)]!();

const cases: Record<string, { graph: WorkflowGraph; answer: (request: ModelRequest) => ScriptedStep }> = {
  "writes files": {
    graph: draw("start > a > b > end", {
      a: { node_type: "agent_task", config: { required_role: "Worker", task_description_template: "Write" } },
      b: {
        node_type: "agent_task",
        config: { required_role: "Worker", task_description_template: "Write more" },
      },
    }),
    answer: writer,
  },
  "reads a long result in parts": {
    graph: draw("start > a > end", {
      a: { node_type: "agent_task", config: { required_role: "Worker", task_description_template: "Read" } },
    }),
    answer: reader,
  },
  "has a crew that writes files by its plan": {
    graph: crewGraph({
      process: "parallel",
      planning: true,
      agents: [
        { agent_id: "one", role_name: "Worker" },
        { agent_id: "two", role_name: "Worker" },
      ],
    }),
    answer: (request) =>
      request.response
        ? {
            json: {
              tasks: ["left", "right"].map((part) => ({
                task_id: part,
                description: part,
                required_role: "Worker",
                expected_output: "text",
                dependencies: [],
              })),
            },
          }
        : writer(request),
  },
};

function newWritingStage(answer: (request: ModelRequest) => ScriptedStep) {
  const db = emptyDb();
  const workspace = new WorkspaceStore(db);
  const registry = new ToolsRegistry();
  for (const tool of fileTools(workspace)) registry.register(tool);
  registry.register(
    defineTool({
      name: "dump",
      description: "Gives much",
      input: z.object({}),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      execute: () => Array.from({ length: 20_000 }, (_, k) => `line ${k}`).join("\n"),
    }),
  );
  const tools = newToolHost({
    registry,
    keep: keepResult(workspace),
    forget: () => {},
    matches: () => Promise.resolve(null),
    runCode: () => Promise.resolve(null),
  });
  const models = modelsOf(answer);
  return { models, workspace, ...newStage({ db, models, tools }) };
}

test.each(Object.entries(cases))(
  "a fork at any point of a run that %s calls no model again",
  { timeout: 60_000 },
  async (_, { graph, answer }) => {
    const { models, host, store, run, workspace } = newWritingStage(answer);
    const filesOf = (runId: string) =>
      workspace
        .list(runId)
        .flatMap(({ kind, path, version, size, artifact_id }) =>
          kind === "file" && path !== "plan.json" ? [[path, version, size, artifact_id]] : [],
        );
    const roles = [role("Worker", ["file_write", "file_read", "create_artifact", "read_artifact", "dump"])];
    const { id, events, state } = await run(graph, { roles });
    expect([state.run.final_status, state.run.error]).toEqual(["COMPLETED", undefined]);
    const asked = models.asked.length;
    const files = filesOf(id);
    expect(asked).toBeGreaterThan(2);
    for (let seq = 1; seq <= events.length; seq += sized(4, 1)) {
      const more = { patches: {}, graph: "original", by: "ann", trigger: "test" } as const;
      const fork = host.fork({ run_id: id, at: { seq }, ...more });
      await host.settled(fork.run_id);
      const { run: now, state: values } = store.state(fork.run_id)!;
      expect([seq, now.final_status, values]).toEqual([seq, "COMPLETED", state.state]);
      expect([seq, filesOf(fork.run_id)]).toEqual([seq, files]);
      expect([seq, models.asked.slice(asked)]).toEqual([seq, []]);
    }
  },
);
