import type { EngineStatus } from "@/server/cluster/engine-status";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import type { Library } from "@/server/domain/library/library";
import type { BisectReport } from "@/server/domain/run/bisect/report";
import type { RoleFolder } from "@/server/interop/role-folder";
import type { DemoPace } from "@/server/llm/demo-pace";
import type { Models } from "@/server/llm/model";
import type { Notifier } from "@/server/notices/notifier";
import type { BisectRequest } from "@/server/runner/bisect/find-difference";
import type { ForkLaunch } from "@/server/runner/fork/fork-launch";
import type { Host } from "@/server/runner/lifecycle/host";
import type { Launch } from "@/server/runner/lifecycle/launch";
import type { RunFrame } from "@/server/runner/log/followers";
import type { TestParts } from "@/server/runner/scenario/answering";
import type { TestGates } from "@/server/runner/scenario/run-suite";
import type { AuditStore } from "@/server/store/audit";
import type { AgentStore } from "@/server/store/library/agents";
import type { BinStore } from "@/server/store/library/bin";
import type { CrewStore } from "@/server/store/library/crews";
import type { MemoryStore } from "@/server/store/library/memories/memories";
import type { RoleStore } from "@/server/store/library/roles";
import type { ScenarioStore } from "@/server/store/library/scenario-tests";
import type { ToolSettingStore } from "@/server/store/library/tool-settings";
import type { NoticeSettingStore } from "@/server/store/notice-settings";
import type { NoticeStore } from "@/server/store/notices";
import type { ProviderStore } from "@/server/store/providers";
import type { QuestionStore } from "@/server/store/runs/questions";
import type { Retention } from "@/server/store/runs/retention";
import type { RunStore } from "@/server/store/runs/runs";
import type { WorkspaceStore } from "@/server/store/runs/workspace";
import type { SecretStore } from "@/server/store/secrets";
import type { TokenStore } from "@/server/store/tokens";
import type { TriggerStore } from "@/server/store/triggers/triggers";
import type { VariableStore } from "@/server/store/variables";
import type { WorkflowVersions } from "@/server/store/versions/workflow-versions";
import type { WorkflowStore } from "@/server/store/workflows";
import type { ToolsRegistry } from "@/server/tools/registry";
import type { ToolSources } from "@/server/tools/sources";
import type { Triggers } from "@/server/triggers/triggers";

/** What operations need of the server; tests bring it on an in-memory database. */
export interface Services {
  workflows: WorkflowStore;
  versions: WorkflowVersions;
  /** The same for sub-workflows, including those that the caller may not see. */
  called: Pick<WorkflowStore, "find" | "list" | "foreign">;
  roles: RoleStore;
  runs: Pick<
    RunStore,
    | "find"
    | "children"
    | "counts"
    | "family"
    | "owner"
    | "input"
    | "list"
    | "events"
    | "state"
    | "byWorkflow"
    | "remove"
    | "restore"
    | "spent"
    | "answers"
    | "journal"
    | "openChildren"
    | "creation"
    | "quarantine"
  >;
  questions: QuestionStore;
  scenarios: ScenarioStore;
  /** What tests of workflows may use. */
  testParts: TestParts;
  testGates: TestGates;
  notices: Pick<NoticeStore, "undelivered" | "drop">;
  noticeSettings: NoticeSettingStore;
  notifier: Pick<Notifier, "test">;
  host: {
    cancel(runId: string, about: { by: string; reason: string }): boolean;
    tryAgain: Host["tryAgain"];
    live: Pick<Host["live"], "isHere">;
    steering: Host["steering"];
    waiters: Pick<Host["waiters"], "wait">;
    follow(runId: string, after: number, signal?: AbortSignal): AsyncIterable<RunFrame>;
  };
  /** Where runs execute, in general and for one run. */
  engine: Pick<EngineStatus, "state" | "place">;
  workspace: Pick<WorkspaceStore, "list" | "read">;
  models: Pick<Models, "describe" | "priceOf">;
  demoPace: Pick<DemoPace, "slow" | "skip">;
  crews: CrewStore;
  agents: AgentStore;
  library: Library;
  memories: MemoryStore;
  retention: Pick<Retention, "sizes" | "rules" | "save" | "countOutdated" | "sweep" | "purge">;
  bin: BinStore;
  audit: Pick<AuditStore, "append" | "list">;
  tokens: TokenStore;
  triggerStore: TriggerStore;
  triggers: Pick<
    Triggers,
    "receive" | "fire" | "retry" | "untilEnd" | "changed" | "graphOf" | "upcoming" | "backfill"
  >;
  /** Roles that are read from files; null if there is no such folder. */
  roleFolder: Pick<RoleFolder, "dir" | "findings"> | null;
  /** Resolves when all that was stored before survives a power cut. */
  disk: { sync(): Promise<void> };
  registry: Pick<ToolsRegistry, "list" | "invoke">;
  providers: ProviderStore;
  toolSettings: ToolSettingStore;
  secrets: SecretStore;
  variables: VariableStore;
  toolSources: Pick<
    ToolSources,
    "customTools" | "mcp" | "isCodeEnabled" | "isTaken" | "customToolsChanged" | "tryOut"
  >;
  /** The operator's rules for every run. */
  installation: InstallationRules;
  /** Throws Rejection; returns undefined if there is no such workflow. */
  startRun(launch: Launch): { run_id: string; created: boolean } | undefined;
  /** Throws Rejection, ExpressionError, DamagedLog. */
  findDifference(request: BisectRequest): Promise<BisectReport>;
  /** Throws Rejection, DamagedLog. */
  forkRun(request: ForkLaunch): { run_id: string; at_seq: number; warnings?: string[] };
}
