import { accessRouter } from "./access";
import { agentsRouter } from "./agents";
import { auditRouter } from "./audit";
import { crewsRouter } from "./crews";
import { customToolsRouter } from "./custom-tools";
import { mcpRouter } from "./mcp";
import { memoriesRouter } from "./memories";
import { providersRouter } from "./providers";
import { rolesRouter } from "./roles";
import { runsRouter } from "./runs";
import { storageRouter } from "./storage";
import { newToolSettingsRouter } from "./tool-settings";
import { toolsRouter } from "./tools";
import { router } from "./trpc";
import { workflowsRouter } from "./workflows";

/** Everything that a browser can ask the server for. */
export const appRouter = router({
  workflows: workflowsRouter,
  roles: rolesRouter,
  runs: runsRouter,
  providers: providersRouter,
  crews: crewsRouter,
  agents: agentsRouter,
  tools: toolsRouter,
  memories: memoriesRouter,
  toolSettings: newToolSettingsRouter((troupe) => troupe.toolSettings),
  customTools: customToolsRouter,
  mcp: mcpRouter,
  access: accessRouter,
  audit: auditRouter,
  storage: storageRouter,
});
export type AppRouter = typeof appRouter;
