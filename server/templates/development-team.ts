import { asks, at, defineTemplate } from "./define";

const parts = [
  { key: "page", what: "page", agent: "frontend_dev" },
  { key: "api", what: "server's interface", agent: "backend_dev" },
  { key: "data", what: "data", agent: "database_dev" },
];

export const developmentTeam = defineTemplate({
  key: "development-team",
  title: "Development team",
  description: "Three developers work side by side; their lead brings the parts together at two points.",
  graph: {
    graph_id: "development_team",
    description: "Developers of the page, the server and the data work in parallel, with two points to meet.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Feature",
        {
          feature: {
            title: "Feature",
            examples: ["Guests can book a table online and cancel it up to two hours before"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Design and build",
        config: {
          plan_description_template: "{{feature}}",
          crew: {
            crew_id: "development_team",
            process: "parallel",
            max_parallel: 3,
            agents: [
              { agent_id: "frontend_dev", role_name: "Developer", backstory: "You build what people see." },
              { agent_id: "backend_dev", role_name: "Developer", backstory: "You build the server." },
              { agent_id: "database_dev", role_name: "Developer", backstory: "You build how data is kept." },
              { agent_id: "tech_lead", role_name: "TechLead" },
            ],
            collaboration_patterns: [
              {
                parallel_groups: [
                  {
                    name: "development_team",
                    agents: ["frontend_dev", "backend_dev", "database_dev"],
                    coordination_agent: "tech_lead",
                    sync_points: ["design_review", "integration_testing"],
                  },
                ],
              },
            ],
          },
          plan: {
            tasks: parts.flatMap(({ key, what, agent }) => [
              {
                task_id: `${key}_design`,
                description: `Design the ${what} for this feature.`,
                assigned_agent: agent,
                metadata: { tags: ["design_review"] },
              },
              {
                task_id: key,
                description: `Build the ${what} as the reviewed design says.`,
                assigned_agent: agent,
                dependencies: [`${key}_design`],
                metadata: { tags: ["integration_testing"] },
              },
            ]),
          },
        },
        input_keys: ["feature"],
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
