import { expect, test } from "vitest";
import { readImport } from "../pipeline";

const read = (text: string) => readImport([{ path: "roboco.yaml", text }]);

test("a pattern alone becomes a crew of its named agents, reported as undescribed", () => {
  const { imported, findings } = read(`collaboration_patterns:
  - name: review
    type: custom
    workflow:
      - { step: write, agent: coder, next_on_success: check }
      - { step: check, agent: reviewer, next_on_approve: done }
`);
  expect(
    imported?.crews.map(({ process, agents }) => [process, agents.map(({ agent_id }) => agent_id)]),
  ).toEqual([["custom", ["coder", "reviewer"]]]);
  expect(findings.map(({ message }) => message).join("\n")).toContain("describe what each one does");
});

test("a parallel group alone becomes a crew of its agents and coordinator", () => {
  const { imported } = read(`collaboration_patterns:
  parallel_groups:
    - { name: team, agents: [front, back], coordination_agent: lead, sync_points: [review] }
`);
  expect(imported?.crews[0]?.agents.map(({ agent_id }) => agent_id)).toEqual(["front", "back", "lead"]);
});

test.each([
  [
    "a turn record",
    '{"step_id": "s", "agent_name": "a", "parts": [{"type": "text", "text": "x"}]}',
    /plan\.json/,
  ],
])("%s is rejected with instructions", (_what, text, message) => {
  const { imported, findings } = read(text);
  expect(imported).toBeNull();
  expect(findings.map(({ message }) => message).join("\n")).toMatch(message);
});
