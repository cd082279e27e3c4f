import { asks, at, defineTemplate } from "./define";

/** An agent recommends, a person decides. */
export const approvalByPerson = defineTemplate({
  key: "approval-by-person",
  title: "Approval by a person",
  description:
    "An agent looks at a request and recommends; you decide, with a comment, and it goes one way or the other.",
  graph: {
    graph_id: "approval_by_person",
    description: "An agent recommends whether to approve a request, and a person decides.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Request",
        {
          user_request: {
            title: "What is asked for?",
            examples: ["Please approve 5000 dollars for a new desk."],
          },
        },
        at(0, 0.5),
      ),
      recommend: {
        id: "recommend",
        node_type: "agent_task",
        name: "Recommend",
        config: {
          required_role: "ApprovalAgent",
          task_description_template: "Review request: {{user_request}} for approval.",
        },
        input_keys: ["user_request"],
        output_keys: ["approval_status", "approver_comments"],
        ui: at(1, 0.5),
      },
      decide: {
        id: "decide",
        node_type: "approval_gate",
        name: "Your decision",
        config: {
          title: "Is this request approved?",
          body_template:
            "**Request**: {{user_request}}\n\n**The agent recommends**: {{approval_status}}. {{approver_comments}}",
          options: ["Approve", "Reject"],
        },
        input_keys: ["user_request", "approval_status", "approver_comments"],
        output_keys: ["decision", "comment"],
        ui: at(2, 0.5),
      },
      carry_out: {
        id: "carry_out",
        node_type: "agent_task",
        name: "Carry it out",
        config: {
          required_role: "ActionAgent",
          task_description_template: "Execute action for approved request: {{user_request}}. {{comment}}",
        },
        input_keys: ["user_request", "comment"],
        output_keys: ["action_result"],
        ui: at(3),
      },
      tell: {
        id: "tell",
        node_type: "agent_task",
        name: "Say no",
        config: {
          required_role: "NotificationAgent",
          task_description_template: "Notify user of rejection for: {{user_request}}. Comments: {{comment}}",
        },
        input_keys: ["user_request", "comment"],
        output_keys: ["notification_status"],
        ui: at(3, 1),
      },
      end_approved: { id: "end_approved", node_type: "end", name: "Approved", ui: at(4) },
      end_rejected: { id: "end_rejected", node_type: "end", name: "Rejected", ui: at(4, 1) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "recommend" },
      { id: "edge_2", source_node_id: "recommend", target_node_id: "decide" },
      { id: "edge_3", source_node_id: "decide", target_node_id: "carry_out", edge_label: "Approve" },
      { id: "edge_4", source_node_id: "decide", target_node_id: "tell", edge_label: "Reject" },
      { id: "edge_5", source_node_id: "carry_out", target_node_id: "end_approved" },
      { id: "edge_6", source_node_id: "tell", target_node_id: "end_rejected" },
    ],
  },
});
