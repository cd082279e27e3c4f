import { asks, at, defineTemplate } from "./define";

export const codeAndReview = defineTemplate({
  key: "code-and-review",
  title: "Code and review",
  description: "A developer writes code; a reviewer sends it back until it is good enough.",
  graph: {
    graph_id: "code_and_review",
    description: "Writes code for a request and revises it until the reviewer approves.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Request",
        {
          feature_request: {
            title: "What should be built?",
            examples: ["A function that checks whether a text is a palindrome"],
          },
        },
        at(0, 0.5),
      ),
      develop: {
        id: "develop",
        node_type: "agent_task",
        name: "Write the code",
        config: {
          required_role: "Developer",
          task_description_template:
            'Write the code for this request: {{feature_request}}\n\nYour last version:\n{{code | default: "There is none yet."}}\n\nWhat the reviewer asked to change:\n{{issues | default: "Nothing yet."}}',
          expected_output: "The complete code with its tests",
        },
        input_keys: ["feature_request"],
        optional_input_keys: ["code", "issues"],
        output_keys: ["code"],
        max_iterations: 5,
        ui: at(1, 0.5),
      },
      review: {
        id: "review",
        node_type: "agent_task",
        name: "Review the code",
        config: {
          required_role: "QualityReviewer",
          task_description_template:
            "Review this code against the request.\n\nRequest: {{feature_request}}\n\nCode:\n{{code}}",
        },
        input_keys: ["feature_request", "code"],
        output_keys: ["verdict", "issues", "summary"],
        ui: at(2, 0.5),
      },
      good_enough: {
        id: "good_enough",
        node_type: "conditional_router",
        name: "Good enough?",
        config: {
          kind: "expression",
          conditions: [
            { label: "approve", when: 'state.verdict == "approve"' },
            { label: "revise", when: 'state.verdict == "revise"' },
          ],
          default_label: "give up",
        },
        input_keys: ["verdict"],
        ui: at(3, 0.5),
      },
      done: {
        id: "done",
        node_type: "end",
        name: "Approved code",
        input_keys: ["code", "summary"],
        ui: at(4),
      },
      not_approved: {
        id: "not_approved",
        node_type: "end",
        name: "Not approved",
        description: "Reached when five rounds were not enough.",
        input_keys: ["code", "issues"],
        config: { status: "ERROR" },
        ui: at(4, 1),
      },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "develop" },
      { id: "edge_2", source_node_id: "develop", target_node_id: "review" },
      { id: "edge_3", source_node_id: "review", target_node_id: "good_enough" },
      { id: "edge_4", source_node_id: "good_enough", target_node_id: "done", edge_label: "approve" },
      { id: "edge_5", source_node_id: "good_enough", target_node_id: "develop", edge_label: "revise" },
      {
        id: "edge_6",
        source_node_id: "good_enough",
        target_node_id: "not_approved",
        edge_label: "give up",
        is_default: true,
      },
    ],
  },
});
