import packageJson from "@/package.json";
import { accessFacts } from "@/server/access/current";
import { operations } from "@/server/operations";
import { procedures, proceduresOf } from "./expose";
import { runStreams } from "./runs";
import { procedure, router } from "./trpc";

/** Everything that a browser can ask the server for. */
export const appRouter = router({
  ...proceduresOf(operations),
  access: {
    ...procedures(operations.access),
    /** No operation, since it tells how this process is reached: for the page of settings. */
    info: procedure("read").query(() => ({ version: packageJson.version, ...accessFacts() })),
  },
  runs: { ...procedures(operations.runs), ...runStreams },
});
export type AppRouter = typeof appRouter;
