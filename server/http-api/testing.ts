import { expect } from "vitest";
import { NO_DISK } from "@/db/disk";
import type { Principal } from "@/server/access/principal";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { present } from "@/server/domain/base/must";
import { EMBEDDED } from "@/server/domain/run/engine-state";
import { newDemoModels } from "@/server/llm/demo-models";
import { newDemoPace } from "@/server/llm/demo-pace";
import type { ModelRequest } from "@/server/llm/model";
import { Notifier } from "@/server/notices/notifier";
import type { Services } from "@/server/operations/services";
import { newBisector } from "@/server/runner/bisect/find-difference";
import { newForkLauncher } from "@/server/runner/fork/fork-launch";
import { newLauncher } from "@/server/runner/lifecycle/launch";
import { TestGates } from "@/server/runner/scenario/run-suite";
import { fakeModels, fakeTools, newStage } from "@/server/runner/testing";
import { newScratchTools } from "@/server/scratch-tools";
import { newSealer } from "@/server/secrets/sealer";
import { newAuditStore } from "@/server/store/audit";
import { newAgentStore } from "@/server/store/library/agents";
import { BinStore } from "@/server/store/library/bin";
import { newCrewStore } from "@/server/store/library/crews";
import { CustomToolStore } from "@/server/store/library/custom-tools";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { RoleStore } from "@/server/store/library/roles";
import { ScenarioStore } from "@/server/store/library/scenario-tests";
import { newToolSettingStore } from "@/server/store/library/tool-settings";
import { newNoticeSettingStore } from "@/server/store/notice-settings";
import { newNoticeStore } from "@/server/store/notices";
import { ProviderStore } from "@/server/store/providers";
import { newQuestionStore } from "@/server/store/runs/questions";
import { Retention } from "@/server/store/runs/retention";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { newSecretStore } from "@/server/store/secrets";
import { newTokenStore } from "@/server/store/tokens";
import { newTriggerStore } from "@/server/store/triggers/triggers";
import { newVariableStore } from "@/server/store/variables";
import { newWorkflowVersions } from "@/server/store/versions/workflow-versions";
import { WorkflowStore } from "@/server/store/workflows";
import { findTemplate } from "@/server/templates";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";
import { newToolSources } from "@/server/tools/sources";
import { newTriggers } from "@/server/triggers/triggers";
import { serve } from "./serve";
import { ENDPOINTS } from "./table";

const HOST = "127.0.0.1:3000";
const ANSWERS: Record<string, string> = {
  ApprovalAgent: '{"approval_status": "approved", "approver_comments": "Enjoy."}',
};
const answerFor = (request: ModelRequest) =>
  Object.entries(ANSWERS).find(([role]) => JSON.stringify(request.messages).includes(role))?.[1] ??
  '{"text": "done"}';

let people = 0;

/** A server in memory and a program that talks to it. */
export function newApi(
  answer: (request: ModelRequest, signal: AbortSignal) => string | Promise<string> = answerFor,
  tools?: NonNullable<Parameters<typeof newStage>[0]>["tools"],
  /** What an earlier server left behind. */
  left?: NonNullable<Parameters<typeof newStage>[0]>["db"],
) {
  const models = fakeModels(answer);
  const { db, host, store } = newStage({ models, ...(tools && { tools }), ...(left && { db: left }) });
  const workflows = new WorkflowStore(db);
  const versions = newWorkflowVersions(db);
  const roles = new RoleStore(db);
  roles.seed(builtinRoles);
  const crews = newCrewStore(db);
  const agents = newAgentStore(db);
  const library = {
    crew: (id: string) => crews.find(id)?.crew,
    agent: (id: string) => agents.find(id)?.agent,
  };
  const sealer = newSealer(null, {});
  const secrets = newSecretStore(db, sealer);
  const variables = newVariableStore(db);
  const noticeSettings = newNoticeSettingStore(db, sealer);
  const engine: Services["engine"] = { state: () => EMBEDDED, place: () => null };
  const sources = { workflows, roles, library, versions, secrets, variables, models, runs: store, host };
  const launcher = newLauncher(sources);
  const triggerStore = newTriggerStore(db, sealer);
  const triggers = newTriggers({
    ...{ store: triggerStore, runs: store, watchers: host.watchers, startRun: launcher.startRun },
    graphOf: (id) => workflows.find(id)?.graph,
    cancel: host.cancel.bind(host),
  });
  const services = {
    triggerStore,
    triggers,
    workflows,
    versions,
    called: workflows,
    roles,
    runs: store,
    questions: newQuestionStore(db),
    scenarios: new ScenarioStore(db),
    testParts: {
      models,
      demoModels: newDemoModels,
      tools: tools ?? fakeTools([]),
      scratchTools: newScratchTools,
    },
    testGates: new TestGates(),
    demoPace: newDemoPace(),
    notices: newNoticeStore(db),
    noticeSettings,
    notifier: new Notifier({
      store: newNoticeStore(db),
      settings: noticeSettings,
      fetch: () => Promise.reject(new Error("Nothing goes out in tests.")),
      dial: () => Promise.reject(new Error("Nothing goes out in tests.")),
      origin: () => `http://${HOST}`,
      hide: (text) => text,
    }),
    host,
    models,
    crews,
    agents,
    library,
    memories: new MemoryStore(db),
    retention: new Retention(db, { dataDir: null, defaults: { days: null, runs: null } }),
    bin: new BinStore(db),
    audit: newAuditStore(db),
    tokens: newTokenStore(db),
    roleFolder: null,
    workspace: new WorkspaceStore(db),
    disk: NO_DISK,
    registry: new ToolsRegistry(),
    providers: new ProviderStore(db, sealer, {}),
    secrets,
    variables,
    toolSettings: newToolSettingStore(db, sealer, () => false),
    toolSources: newToolSources({
      customTools: new CustomToolStore(db),
      mcpServers: new McpServerStore(db, sealer),
      env: { NODE_ENV: "test" },
    }),
    engine,
    installation: {},
    ...newBisector(store, { matches: matchesSafely, runCode: () => Promise.resolve(null) }),
    ...newForkLauncher(sources),
    ...launcher,
  };
  const principal: Principal = { kind: "token", id: `program${people++}` };

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    /** The sending client, for the rate limit. */
    as = principal,
  ) {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const sent: Record<string, string> = { host: HOST, authorization: "Bearer good" };
    if (text !== undefined)
      Object.assign(sent, {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(text)),
      });
    const request = new Request(`http://${HOST}/api/v1${path}`, {
      method,
      headers: { ...sent, ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    return serve(request, {
      services: () => services,
      recognition: {
        sessionOf: () => null,
        tokenOf: (asked) => (asked.headers.get("authorization") === "Bearer good" ? as : null),
      },
    });
  }
  return {
    ...services,
    db,
    send,
    /** The status and the JSON of an answer. */
    async ask(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
      const response = await send(method, path, body, headers);
      const text = await response.text();
      return {
        status: response.status,
        // oxlint-disable-next-line typescript/no-unsafe-assignment -- tests look into answers of any shape
        body: text === "" ? null : JSON.parse(text),
        headers: response.headers,
      };
    },
    /** Saves the approval example; answers with its id. */
    addApproval: () =>
      workflows.create({ name: "Approval", graph: present(findTemplate("approval"), "the template").graph }),
  };
}
export type Api = ReturnType<typeof newApi>;

/** Whether an answer is as the OpenAPI file promises. */
export const expectSchema = (name: string, value: unknown) => {
  const schema = present(endpointNamed(name).success.schema, "what it answers");
  expect(schema.safeParse(value).error?.issues ?? []).toEqual([]);
};
const endpointNamed = (name: string) => {
  const found = ENDPOINTS.find((endpoint) => endpoint.name === name);
  if (!found) throw new Error(`No endpoint ${name}`);
  return found;
};
