import { accessOperations } from "./access";
import { auditOperations } from "./audit";
import { binOperations } from "./bin";
import { docOperations } from "./docs";
import { customToolOperations } from "./library/custom-tools";
import { agentOperations, crewOperations } from "./library/library";
import { mcpOperations } from "./library/mcp";
import { memoryOperations } from "./library/memories";
import { roleOperations } from "./library/roles";
import { toolSettingOperations } from "./library/tool-settings";
import { toolOperations } from "./library/tools";
import { noticeOperations } from "./notices";
import type { Operation } from "./operation";
import { providerOperations } from "./providers";
import { bisectOperations } from "./runs/bisect";
import { controlOperations } from "./runs/control";
import { engineOperations } from "./runs/engine";
import { forkOperations } from "./runs/forks";
import { pastOperations } from "./runs/past";
import { questionOperations } from "./runs/questions";
import { runOperations } from "./runs/runs";
import { shareOperations } from "./runs/share";
import { steeringOperations } from "./runs/steering";
import { teamOperations } from "./runs/team";
import { scenarioOperations } from "./scenarios/scenarios";
import { secretOperations } from "./secrets";
import { storageOperations } from "./storage";
import { deliveryOperations } from "./triggers/deliveries";
import { scheduleOperations } from "./triggers/schedules";
import { triggerOperations } from "./triggers/triggers";
import { variableOperations } from "./variables";
import { importOperations } from "./workflows/imports";
import { versionOperations } from "./workflows/versions";
import { workflowOperations } from "./workflows/workflows";

/** Every operation, by the name that it has in tRPC. */
export const operations = {
  docs: docOperations,
  workflows: workflowOperations,
  versions: versionOperations,
  imports: importOperations,
  roles: roleOperations,
  crews: crewOperations,
  agents: agentOperations,
  runs: {
    ...runOperations,
    ...pastOperations,
    ...shareOperations,
    ...steeringOperations,
    ...controlOperations,
    ...teamOperations,
    ...forkOperations,
    ...bisectOperations,
  },
  triggers: { ...triggerOperations, ...scheduleOperations, ...deliveryOperations },
  tests: scenarioOperations,
  questions: questionOperations,
  notices: noticeOperations,
  memories: memoryOperations,
  storage: storageOperations,
  tools: toolOperations,
  secrets: secretOperations,
  variables: variableOperations,
  toolSettings: toolSettingOperations,
  customTools: customToolOperations,
  mcp: mcpOperations,
  providers: providerOperations,
  bin: binOperations,
  engine: engineOperations,
  access: accessOperations,
  audit: auditOperations,
} satisfies Record<string, Record<string, Operation>>;
