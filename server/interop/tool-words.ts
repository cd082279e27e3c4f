/** Tools that come with Troupe, by the names under which files of teams list them. */
export const BUILTIN_TOOLS: ReadonlySet<string> = new Set([
  "handoff",
  "parallel_handoff",
  "delegate_task",
  "ask_coworker",
  "finish",
  "reject_task",
  "plan_read",
  "plan_add_task",
  "plan_update_task",
  "plan_assign_task",
  "plan_estimate_duration",
  "plan_set_dependencies",
  "create_artifact",
  "read_artifact",
  "store_memory",
  "retrieve_memory",
  "search_memory",
  "write_board",
  "read_board",
  "create_team",
  "modify_team",
  "dissolve_team",
  "propose_decision",
  "vote_on_proposal",
  "finalize_consensus",
  "request_approval",
  "request_feedback",
  "escalate_to_human",
  "file_read",
  "file_write",
  "http_request",
  "browse_url",
  "web_search",
  "code_search",
  "calculator",
  "current_time",
  "run_javascript",
]);

const FOREIGN_TOOLS = new Map([
  ["read", "file_read"],
  ["write", "file_write"],
  ["websearch", "web_search"],
  ["webfetch", "browse_url"],
  ["fetch", "browse_url"],
  ["bash", "run_command"],
]);

/** Our name of another system's tool that does the same, where there is one. */
export function ownToolFor(foreign: string): string | undefined {
  return FOREIGN_TOOLS.get(foreign.toLowerCase());
}
