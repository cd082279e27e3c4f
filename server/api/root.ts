import { operations } from "@/server/operations";
import { accessRouter } from "./access";
import { agentsRouter } from "./agents";
import { auditRouter } from "./audit";
import { crewsRouter } from "./crews";
import { procedures } from "./expose";
import { rolesRouter } from "./roles";
import { runsRouter } from "./runs";
import { router } from "./trpc";
import { workflowsRouter } from "./workflows";

/** Everything that a browser can ask the server for. */
export const appRouter = router({
  workflows: workflowsRouter,
  imports: router(procedures(operations.imports)),
  roles: rolesRouter,
  runs: runsRouter,
  providers: router(procedures(operations.providers)),
  crews: crewsRouter,
  agents: agentsRouter,
  tools: router(procedures(operations.tools)),
  memories: router(procedures(operations.memories)),
  toolSettings: router(procedures(operations.toolSettings)),
  customTools: router(procedures(operations.customTools)),
  mcp: router(procedures(operations.mcp)),
  tests: router(procedures(operations.tests)),
  access: accessRouter,
  audit: auditRouter,
  questions: router(procedures(operations.questions)),
  notices: router(procedures(operations.notices)),
  storage: router(procedures(operations.storage)),
  bin: router(procedures(operations.bin)),
  engine: router(procedures(operations.engine)),
});
export type AppRouter = typeof appRouter;
