import { accessOperations } from "./access";
import { auditOperations } from "./audit";
import { binOperations } from "./bin";
import { bisectOperations } from "./bisect";
import { controlOperations } from "./control";
import { customToolOperations } from "./custom-tools";
import { engineOperations } from "./engine";
import { forkOperations } from "./forks";
import { importOperations } from "./imports";
import { agentOperations, crewOperations } from "./library";
import { mcpOperations } from "./mcp";
import { memoryOperations } from "./memories";
import { noticeOperations } from "./notices";
import type { Operation } from "./operation";
import { pastOperations } from "./past";
import { providerOperations } from "./providers";
import { questionOperations } from "./questions";
import { roleOperations } from "./roles";
import { runOperations } from "./runs";
import { scenarioOperations } from "./scenarios";
import { shareOperations } from "./share";
import { steeringOperations } from "./steering";
import { storageOperations } from "./storage";
import { teamOperations } from "./team";
import { toolSettingOperations } from "./tool-settings";
import { toolOperations } from "./tools";
import { workflowOperations } from "./workflows";

/** Every operation, by the name that it has in tRPC. */
export const operations = {
  workflows: workflowOperations,
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
  tests: scenarioOperations,
  questions: questionOperations,
  notices: noticeOperations,
  memories: memoryOperations,
  storage: storageOperations,
  tools: toolOperations,
  toolSettings: toolSettingOperations,
  customTools: customToolOperations,
  mcp: mcpOperations,
  providers: providerOperations,
  bin: binOperations,
  engine: engineOperations,
  access: accessOperations,
  audit: auditOperations,
} satisfies Record<string, Record<string, Operation>>;
