import { asks, at, defineTemplate } from "./define";

export const researchCrew = defineTemplate({
  key: "research-crew",
  title: "Research crew",
  description: "One searches while one sets the criteria, a third writes: three agents up to a short report.",
  graph: {
    graph_id: "research_crew",
    description:
      "Searches for what is known about a question, says beforehand by what to judge it, and writes a report of one page.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Question",
        {
          question: {
            title: "Question",
            description: "What you want to know",
            examples: ["Do bees do better in cities than in the countryside?"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Research",
        config: {
          plan_description_template: "{{question}}",
          crew: {
            crew_id: "research_crew",
            process: "parallel",
            agents: [
              { agent_id: "scout", role_name: "WebResearcher" },
              { agent_id: "analyst", role_name: "Analyst" },
              { agent_id: "writer", role_name: "Writer" },
            ],
          },
          plan: {
            success_criteria: [
              "The report answers the question, and every claim in it stands in the findings.",
            ],
            tasks: [
              {
                task_id: "findings",
                description: "Search for what is known about the question, and name the sources.",
                assigned_agent: "scout",
                expected_output: "Five short points, each with its source",
              },
              {
                task_id: "judgement",
                description:
                  "Say by which criteria the question is to be answered, what would speak for each answer, and where one is easily misled.",
                assigned_agent: "analyst",
              },
              {
                task_id: "report",
                description:
                  "Write a report of one page that answers the question: hold the findings against the criteria, and say what stays open.",
                assigned_agent: "writer",
                dependencies: ["findings", "judgement"],
                expected_output: "One page with a title, the answer first",
              },
            ],
          },
        },
        input_keys: ["question"],
        output_keys: ["report"],
        ui: at(1),
      },
      end: { id: "end", node_type: "end", name: "Report", input_keys: ["report"], ui: at(2) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "end" },
    ],
  },
});
