/**
 * The current edition of what nodes and crews do. A run keeps the edition in its `run_created` to its end, so that an
 * older log replays to the same events. Defaults to 1.
 *
 * 2: Answers of a sample keep their signs when they are compared ("-5" is not "5"), a refused handoff is not counted,
 * a task's status is set before its plan is written, and an invalid default output names its node.
 *
 * 3: A broken answer of more than 16,384 characters is only repaired if its meaning is certain, and a run that exceeds a
 * hard limit says so.
 * An id names an agent's task, data can't open or close tags of prompts, and a role's `knowledge` says what its answers
 * may use.
 * A judge of criteria sees the results of tasks, a team with open tasks can't be dissolved, and a crew that fails at its
 * limit keeps what was written.
 * Commands have ids, a call in flight at a crash follows its tool's `on_crash`, and resetting a breakpoint resets its
 * count.
 * If a value that a running node has read changes, the node restarts or reports that it keeps the old value.
 * Text from files never counts as a person's own words; `foreign` in `run_created` lists such texts.
 *
 * 4: Prompts are reworded, name the day the run started, and describe nested JSON. A manager can forward a
 * reply. Older requests are found by their old wording (`replay/edition-3.json`).
 *
 * 5: Runs can start runs of other workflows (`sub_workflow`, `map`). A role's `rule` answers instead of a model. A run
 * can ask a person after a number of errors, a cost or a time (`escalate`).
 * Delegates keep their role's tools, and crews can let every agent hand off, also delegates. Agents can start and fail
 * their own tasks of a plan. Tasks pass urgency on to what they wait for. Questions in words have a form.
 * Programs of a Python session can call the agent's tools, and a missing variable's declaration is named.
 * Untrusted input taints a run from its first event, and untrusted senders taint it later (`origin` in `run_created`,
 * `untrusted` next to `by`): neither counts as a person's own words.
 */
export const EDITION = 5;

/** Whether a run goes by that edition, or a newer one. */
export const isSince = ({ edition = 1 }: { edition?: number }, wanted: number): boolean => edition >= wanted;
