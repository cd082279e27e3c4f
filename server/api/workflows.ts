import { workflowOperations } from "@/server/operations/workflows";
import { procedures } from "./expose";
import { router } from "./trpc";

/** Saved workflows; files come in by imports.importFiles. */
export const workflowsRouter = router(procedures(workflowOperations));
