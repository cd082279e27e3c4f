/**
 * The newest edition of what nodes and crews do. A run goes to its end by the edition that its `run_created` names, so that a log
 * of before replays as it was made; absent: the first.
 *
 * The second: a sample's answers keep signs when they are compared ("-5" is not "5"), a handoff that was refused is none,
 * a task's status is set before its plan is written, and a default output that does not fit names its node.
 *
 * The third (unreleased): a broken answer of more than 16,384 characters is only repaired where its meaning is certain,
 * and a run that went over a hard limit says so.
 * An id names an agent's task, data neither opens nor closes tags of prompts, and a role's `knowledge` says what its answers may rest on.
 * A judge of criteria sees the results of tasks, a team with open tasks stays, and a crew that fails at its limit keeps what was written.
 * Commands have ids, a call in flight at a crash goes by its tool's `on_crash`, and a breakpoint that is set again counts from zero.
 * A running node that read a value of the state begins again when that is changed, or says that it keeps what it read.
 * What a file's text says is no person's own words; `foreign` in `run_created` names such texts, so that other logs are judged as they were.
 */
export const EDITION = 3;

/** Whether a run goes by that edition, or a newer one. */
export const isSince = ({ edition = 1 }: { edition?: number }, wanted: number): boolean => edition >= wanted;
