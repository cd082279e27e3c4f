import { expect, test } from "vitest";
import { crewRunDiagnostics } from "./crew-run-diagnostics";
import type { CrewScene } from "./members";

const agent = (more: object) => ({
  key: "k",
  agent_id: "coder",
  role_name: "Coder",
  activation_id: "crew#1",
  task_id: "build",
  status: "completed",
  messages: [],
  tools: [],
  withheld: [],
  delegate_level: 0,
  started_at: 1,
  ...more,
});
const scene = (...agents: object[]) =>
  ({
    crew: {},
    tools: [],
    asks: [],
    calls: [
      { agent_id: "coder", task_id: "build", attempt: 1, status: "failed", error: { message: "Too busy." } },
      { agent_id: "coder", task_id: "build", attempt: 2, status: "completed" },
    ],
    agents,
    plan: { tasks: [{ task_id: "build" }] },
  }) as unknown as CrewScene;

test("diagnostics list failures per member and unmet criteria", () => {
  const diagnostics = crewRunDiagnostics(
    scene(
      agent({
        nudges: 2,
        withheld: [
          { tool_name: "browse", reason: "It is denied for this run." },
          { tool_name: "read_board", reason: "There is no such tool here." },
          { tool_name: "write_board", reason: "It is denied for this run." },
        ],
      }),
      agent({ key: "k2", task_id: "build.r1", status: "failed", error: { message: "No net." } }),
    ),
    [
      { criterion: "it runs", met: false, evidence: "It crashed" },
      { criterion: "it runs", met: true, evidence: "Seen" },
      { criterion: "it is fast", met: false, evidence: "3 s" },
    ],
  );
  expect(diagnostics.map(({ status, text }) => `${status}: ${text}`)).toEqual([
    "warning: Coder (build): model call retried 1 time. Last error: Too busy.",
    "warning: Coder (build) got stuck in a loop and was asked to change its approach 2 times",
    "warning: Coder (build) has no access to browse (It is denied for this run), write_board (It is denied for this run)",
    "failed: Coder failed: No net.",
    "warning: A person sent the result of build back 1 time",
    "failed: Not met: it is fast. 3 s",
  ]);
});

test("a successful crew that met its criteria has no diagnostics", () => {
  const met = [{ criterion: "it runs", met: true, evidence: "Seen" }];
  expect(crewRunDiagnostics({ ...scene(agent({})), calls: [] }, met)).toEqual([]);
});
