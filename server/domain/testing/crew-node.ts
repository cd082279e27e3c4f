import type { JsonObject } from "@/server/domain/base/values";

/** A node in which a Writer and a Reader work one after the other. `plan`: what they do; without it, one text is written. */
export const writersNode = (
  plan: JsonObject = {
    tasks: [{ task_id: "write", description: "write it", required_role: "Writer" }],
  },
) => ({
  node_type: "crew_task",
  output_keys: ["result"],
  config: {
    plan_description_template: "Write it",
    crew: {
      agents: [
        { agent_id: "ann", role_name: "Writer" },
        { agent_id: "bob", role_name: "Reader" },
      ],
      process: "sequential",
    },
    plan,
  },
});
