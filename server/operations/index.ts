import type { Operation } from "./operation";
import { workflowOperations } from "./workflows";

/** Every operation, by the name that it has in tRPC. */
export const operations = {
  workflows: workflowOperations,
} satisfies Record<string, Record<string, Operation>>;
