import { asks, at, defineTemplate } from "./define";

export const plannedCrew = defineTemplate({
  key: "planned-crew",
  title: "Crew with a planner",
  description: "A planner breaks a goal into tasks; a crew of four carries the plan out.",
  graph: {
    graph_id: "crew_with_a_planner",
    description: "A planner writes the plan for a goal, and the crew carries it out.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Goal",
        {
          goal: {
            title: "Goal",
            examples: ["Prepare a one-day workshop about home gardening"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Plan and work",
        config: {
          plan_description_template: "Reach this goal: {{goal}}",
          crew: {
            crew_id: "small_team",
            planning: true,
            process: "parallel",
            agents: [
              { agent_id: "planner", role_name: "Planner" },
              { agent_id: "researcher", role_name: "Researcher" },
              { agent_id: "analyst", role_name: "Analyst" },
              { agent_id: "writer", role_name: "Writer" },
            ],
          },
        },
        input_keys: ["goal"],
        output_keys: ["result"],
        ui: at(1),
      },
      end: { id: "end", node_type: "end", name: "Result", input_keys: ["result"], ui: at(2) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "end" },
    ],
  },
});
