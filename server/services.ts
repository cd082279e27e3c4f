import { defined } from "@/server/domain/base/defined";
import "server-only";
import path from "node:path";
import { newDisk } from "@/db/disk";
import type { Db } from "@/db/open";
import { newCluster } from "@/server/cluster/cluster";
import type { EngineStatus } from "@/server/cluster/engine-status";
import { newJournalSealer } from "@/server/cluster/seal";
import { newWorkerPort } from "@/server/cluster/worker-port";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { Library } from "@/server/domain/library/library";
import { providerFetch, publicFetch } from "@/server/egress/fetch";
import { newMailDial, newNoticeFetch } from "@/server/egress/notices";
import { newRoleFolder } from "@/server/interop/role-folder";
import { newDemoModels } from "@/server/llm/demo-models";
import { newDemoPace } from "@/server/llm/demo-pace";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { log } from "@/server/log";
import { Notifier } from "@/server/notices/notifier";
import { newBisector } from "@/server/runner/bisect/find-difference";
import { CREW_TOOLS } from "@/server/runner/crew/tools";
import { newForkLauncher } from "@/server/runner/fork/fork-launch";
import { Host } from "@/server/runner/lifecycle/host";
import { newLauncher } from "@/server/runner/lifecycle/launch";
import { usedBy } from "@/server/runner/lifecycle/workflow-version";
import { TestGates } from "@/server/runner/scenario/run-suite";
import { newScratchTools } from "@/server/scratch-tools";
import { heldBack, redact, redactJson, withoutHeld } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { installationRules, originOf, readSettings } from "@/server/settings";
import { newAuditStore } from "@/server/store/audit";
import { dataDir, getDb } from "@/server/store/current";
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
import { newRunningMarker } from "@/server/store/runs/running-marker";
import { newRunStore } from "@/server/store/runs/runs";
import { keepResult } from "@/server/store/runs/tool-results";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { newSecretStore } from "@/server/store/secrets";
import { newTokenStore } from "@/server/store/tokens";
import { newTriggerStore } from "@/server/store/triggers/triggers";
import { newVariableStore } from "@/server/store/variables";
import { newWorkflowVersions } from "@/server/store/versions/workflow-versions";
import { newWatchdog } from "@/server/store/watchdog";
import { WorkflowStore } from "@/server/store/workflows";
import { builtinTools } from "@/server/tools/builtin";
import { newToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";
import { runWithCalls } from "@/server/tools/sandbox/sandbox";
import { newToolSources } from "@/server/tools/sources";
import { newTriggers } from "@/server/triggers/triggers";

export type Container = ReturnType<typeof newServices>;

/** Puts the server together: stores, models, and the host of the runs. Nothing begins to run yet. */
export function newServices(db: Db, options: { dataDir: string | null; env?: NodeJS.ProcessEnv }) {
  const env = options.env ?? process.env;
  const settings = readSettings(env);
  const installation = installationRules(settings);
  const sealer = newSealer(options.dataDir, env);
  const workflows = new WorkflowStore(db);
  const versions = newWorkflowVersions(db);
  const crews = newCrewStore(db);
  const agents = newAgentStore(db);
  const library: Library = {
    crew: (id) => crews.find(id)?.crew,
    agent: (id) => agents.find(id)?.agent,
  };
  const runs = newRunStore(db);
  const questions = newQuestionStore(db);
  const tokens = newTokenStore(db);
  const providers = new ProviderStore(db, sealer, env);
  const workerPort = newWorkerPort({ db, settings, sealer, providers, env, log });
  const demoPace = newDemoPace();
  const models = newModels({
    providers,
    offlineFetch: newOfflineFetch({ pace: demoPace }),
    ...defined({ gates: workerPort.gates }),
  });
  const secrets = newSecretStore(db, sealer);
  secrets.load();
  const variables = newVariableStore(db);
  const workspace = new WorkspaceStore(db);
  const memories = new MemoryStore(db);
  const audit = newAuditStore(db, Date.now, redact);
  const toolSettings = newToolSettingStore(db, sealer, () => providers.findDefault()?.kind === "offline");

  const registry = new ToolsRegistry();
  const builtin = registry.replace(
    [],
    builtinTools({
      workspace,
      memories,
      web: { fetch: publicFetch, openSecret: secrets.open },
      search: { backendFor: toolSettings.backendFor, fetch: providerFetch },
    }),
  );
  const mcpServers = new McpServerStore(db, sealer);
  const toolSources = newToolSources({
    customTools: new CustomToolStore(db),
    mcpServers,
    env,
    reserved: () => [...builtin, ...CREW_TOOLS],
    lines: workerPort.lines,
  });
  let changing = registry.replace([], toolSources.tools());
  toolSources.onChange(() => {
    changing = registry.replace(changing, toolSources.tools());
  });
  const rolesDir = env.TROUPE_ROLES_DIR?.trim() || (options.dataDir && path.join(options.dataDir, "roles"));
  // After the tools: a listed tool that no source provides is left out, with a finding.
  const roleFolder = rolesDir
    ? newRoleFolder(rolesDir, undefined, (name) => registry.get(name) !== undefined)
    : null;
  const roles = new RoleStore(db, Date.now, roleFolder ?? undefined);
  const keep = keepResult(workspace);
  const tools = newToolHost({
    registry,
    keep,
    redact: redactJson,
    forget: (place) => memories.forget(place),
    role: (name) => roles.find(name)?.role,
    matches: matchesSafely,
    runCode: (program, signal, owner) =>
      toolSources.isCodeEnabled ? runWithCalls(program, { signal, owner }) : Promise.resolve(null),
  });
  const disk = newDisk(db.$client, (message, error) => log("warn", message, { error: String(error) }));
  const cluster = newCluster({
    db,
    settings,
    runs,
    rules: installation,
    seal: settings.TROUPE_SECRET_KEY ? newJournalSealer(settings.TROUPE_SECRET_KEY).seal : null,
    workers: workerPort.workers,
    log,
  });
  const watchdog = options.dataDir === null ? null : newServersWatchdog(options.dataDir, env);
  const host = new Host({
    store: runs,
    remoteEngine: cluster.dispatcher,
    effects: { models, tools },
    disk,
    log,
    rules: installation,
    people: { answer_within_ms: settings.TROUPE_ANSWER_HOURS * 3_600_000 },
    redact: redactJson,
    streamRedactor: { hide: withoutHeld, heldBack },
    runningMarker: newRunningMarker(options.dataDir),
    ...defined({ watchdog: watchdog || undefined }),
    crashed: CRASHES.test(env.TROUPE_LAST_END ?? ""),
    maxRuns: () => (env.TROUPE_MAX_RUNS ? null : cluster.capacity()) ?? settings.TROUPE_MAX_RUNS,
    maxQueued: settings.TROUPE_MAX_QUEUED,
  });
  const engine: Pick<EngineStatus, "state" | "place"> = cluster.status;
  const notices = newNoticeStore(db);
  const noticeSettings = newNoticeSettingStore(db, sealer);
  const notifier = new Notifier({
    store: notices,
    settings: noticeSettings,
    fetch: newNoticeFetch(settings.TROUPE_NOTICE_ALLOWED_HOSTS),
    dial: newMailDial(settings.TROUPE_NOTICE_ALLOWED_HOSTS),
    origin: () => originOf(settings),
    hide: redact,
    log,
  });
  const retention = new Retention(db, {
    dataDir: options.dataDir,
    defaults: {
      days: settings.TROUPE_KEEP_RUNS_DAYS ?? null,
      runs: settings.TROUPE_KEEP_RUNS ?? null,
    },
  });
  const sources = { workflows, roles, library, versions, secrets, variables, models, runs, host };
  const launcher = newLauncher({ ...sources, installation });
  const triggerStore = newTriggerStore(db, sealer);
  const triggers = newTriggers({
    ...{ store: triggerStore, runs, watchers: host.watchers, startRun: launcher.startRun },
    graphOf(workflowId) {
      const draft = workflows.find(workflowId);
      return draft && usedBy({ versions }, draft).graph;
    },
    ...{ redact: redactJson, log },
    cancel: host.cancel.bind(host),
  });
  return {
    db,
    retention,
    bin: new BinStore(db),
    /** Acknowledged data must survive a power cut: await `disk.sync` first. */
    disk,
    workflows,
    versions,
    called: workflows,
    roles,
    /** The folder of roles that are read from files; null where nothing is kept on disk. */
    roleFolder,
    crews,
    agents,
    library,
    runs,
    questions,
    scenarios: new ScenarioStore(db),
    testParts: {
      models,
      demoModels: newDemoModels,
      tools,
      scratchTools: newScratchTools,
    },
    testGates: new TestGates(),
    notices,
    noticeSettings,
    notifier,
    tokens,
    providers,
    models,
    demoPace,
    workspace,
    memories,
    audit,
    toolSettings,
    secrets,
    variables,
    mcpServers,
    registry,
    toolSources,
    host,
    watchdog,
    cluster,
    /** The port of the server's workers, and what they hear there. */
    workerPort: {
      open: () => workerPort.open({ runs: cluster.receiver(host), tools, keep, redact: redactJson }),
      close: workerPort.close,
    },
    /** Where runs execute. */
    engine,
    installation,
    ...newBisector(runs, tools),
    ...newForkLauncher(sources),
    ...launcher,
    triggerStore,
    triggers,
  };
}

/** How a process crashes: by one of these signals, or by exiting unasked; a kill is no crash. */
const CRASHES = /^(?:SIG(?:ABRT|SEGV|BUS|ILL|FPE|TRAP)|\d+)$/;

/** Where the start script restarts the server, the watchdog ends one that hangs. */
const newServersWatchdog = (dataDir: string, { TROUPE_LAST_END }: NodeJS.ProcessEnv) =>
  newWatchdog(dataDir, {
    endAfter: TROUPE_LAST_END === undefined ? 0 : 10,
    warn: (message, error) => log("warn", message, { error: String(error) }),
  });

declare global {
  var __troupe: Container | undefined;
}

/** The one Troupe of this process. On globalThis: the start-up code and the routes are separate bundles. */
export function getServices(): Container {
  if (!globalThis.__troupe) {
    globalThis.__troupe = newServices(getDb(), { dataDir: dataDir() });
    globalThis.__troupe.roles.seed(builtinRoles);
  }
  return globalThis.__troupe;
}
