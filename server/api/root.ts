import { accessRouter } from "./access";
import { customToolsRouter } from "./custom-tools";
import { mcpRouter } from "./mcp";
import { providersRouter } from "./providers";
import { rolesRouter } from "./roles";
import { runsRouter } from "./runs";
import { router } from "./trpc";
import { workflowsRouter } from "./workflows";

/** Everything that a browser can ask the server for. */
export const appRouter = router({
  workflows: workflowsRouter,
  roles: rolesRouter,
  runs: runsRouter,
  providers: providersRouter,
  customTools: customToolsRouter,
  mcp: mcpRouter,
  access: accessRouter,
});
export type AppRouter = typeof appRouter;
