const CREW_TOOL =
  /^(?:handoff|parallel_handoff|transfer_to_.*|delegate_task|ask_coworker|finish|reject_task|plan_.*|write_board|read_board|read_value|create_artifact|create_team|modify_team|dissolve_team|propose_decision|vote_on_proposal|finalize_consensus|request_approval|approval_gateway|request_feedback|escalate_to_human)$/;

/** Whether a tool steers the crew, so that calling it unprompted would change the course of the work. */
export const isCrewTool = (name: string): boolean => CREW_TOOL.test(name);
