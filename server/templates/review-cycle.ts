import { asks, at, defineTemplate } from "./define";

export const reviewCycle = defineTemplate({
  key: "review-cycle",
  title: "Code review cycle",
  description:
    "A pattern of your own: code, review, test, and back to the coder until review and tests agree.",
  graph: {
    graph_id: "code_review_cycle",
    description:
      "A coder, a reviewer and a tester follow a pattern whose steps say what comes after each outcome.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Request",
        {
          feature_request: {
            title: "What should be built?",
            examples: ["A function that converts Roman numerals to numbers"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Code, review, test",
        config: {
          plan_description_template: "{{feature_request}}",
          crew: {
            crew_id: "code_team",
            process: "custom",
            agents: [
              { agent_id: "coder", role_name: "Developer" },
              { agent_id: "reviewer", role_name: "QualityReviewer" },
              { agent_id: "tester", role_name: "Tester" },
            ],
            collaboration_patterns: [
              {
                name: "code_review_cycle",
                type: "custom",
                workflow: [
                  {
                    step: "code_generation",
                    agent: "coder",
                    description: "Write the code, or revise it as the review asks.",
                    next_on_success: "code_review",
                    next_on_failure: "end:not_possible",
                  },
                  {
                    step: "code_review",
                    agent: "reviewer",
                    description: "Review the code: does it do what was asked, also at its edges?",
                    next_on_approve: "testing",
                    next_on_reject: "coder",
                  },
                  {
                    step: "testing",
                    agent: "tester",
                    description: "Test the code in the usual case and at its edges.",
                    next_on_pass: "end:ready",
                    next_on_fail: "coder",
                  },
                ],
              },
            ],
          },
        },
        input_keys: ["feature_request"],
        output_keys: ["code_generation", "testing", "outcome"],
        ui: at(1),
      },
      end: {
        id: "end",
        node_type: "end",
        name: "Code",
        input_keys: ["code_generation", "testing", "outcome"],
        ui: at(2),
      },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "end" },
    ],
  },
});
