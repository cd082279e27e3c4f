import type { RunEvent } from "@/server/domain/run/events";
import { keyOf, Story } from "./story";

const REPORT = `# Heat pumps in old houses

Three findings:

1. **Seasonal efficiency** stays above 3 in 80 % of the houses.
2. Radiators need replacing in *every fourth* house.
3. The payback time is 9 to 14 years.

| House | Year | Efficiency |
| --- | --- | --- |
| A | 1921 | 3.4 |
| B | 1958 | 2.9 |

> Measured from 2023 to 2025.

See [the study](https://example.org/study).
`;

/** A manager sends researcher, analyst and writer; one call is refused, one was mended, one result was cut. */
function hierarchical(): Story {
  return new Story({
    title: "Research crew",
    process: "hierarchical",
    goal: "Write a short report on heat pumps in old houses.",
    manager: "lead",
    members: [
      { agent_id: "lead", role_name: "Manager" },
      { agent_id: "researcher", role_name: "Researcher" },
      { agent_id: "analyst", role_name: "Data analyst" },
      { agent_id: "writer", role_name: "Writer" },
    ],
  })
    .begins("lead", { tools: ["plan_add_task"] })
    .thinks("lead", "Research first, then numbers, then the text.", {
      purpose: "plan",
      model: "scripted-large",
    })
    .plan(
      [
        {
          task_id: "research",
          description: "Find three studies on heat pumps in old houses",
          required_role: "Researcher",
        },
        {
          task_id: "numbers",
          description: "Compare their efficiency and cost",
          required_role: "Data analyst",
          dependencies: ["research"],
        },
        {
          task_id: "text",
          description: "Write the report on one page",
          required_role: "Writer",
          dependencies: ["research", "numbers"],
        },
        {
          task_id: "check",
          description: "Check the report against the studies",
          required_role: "Researcher",
          dependencies: ["text"],
        },
      ],
      "lead",
    )
    .emit("round_started", { round: 1 })
    .emit("post_sent", {
      from: "lead",
      to: "researcher",
      message: "Please find three studies with measured values, not vendor brochures.",
      kind: "post",
    })
    .task("research", "pending", "in_progress", "researcher")
    .begins("researcher", {
      task_id: "research",
      tools: ["web_search", "browse_url", "create_artifact"],
      delegate_level: 1,
      parent: keyOf("lead"),
    })
    .thinks("researcher", "I look for measured values.", {
      task_id: "research",
      tools: [
        {
          id: "t1",
          name: "web_search",
          args: { query: "heat pump seasonal performance old buildings field study", limit: 5 },
          output: [{ title: "Field study of 56 houses", url: "https://example.org/study" }],
          simulated: true,
        },
        {
          id: "t2",
          name: "http_request",
          args: { method: "POST", url: "https://example.net/collect" },
          status: 403,
          error: "The role Researcher may not use http_request.",
        },
      ],
    })
    .thinks("researcher", "Now the page itself.", {
      task_id: "research",
      cost: null,
      model: "scripted-free",
      tools: [
        {
          id: "t3",
          name: "browse_url",
          args: { url: "https://example.org/study" },
          output: "Field study of 56 houses built between 1900 and 1978 …",
          artifact_id: "art_1",
          repaired: true,
        },
      ],
    })
    .emit("agent_tainted", { tool_name: "browse_url" }, { agent_id: "researcher", task_id: "research" })
    .emit("artifact_created", {
      artifact_id: "art_1",
      path: "tool-results/browse_url-1.txt",
      version: 1,
      size: 18_400,
      kind: "result",
    })
    .emit("board_written", {
      alias: "researcher",
      bulletin: "Three studies found: 56, 102 and 18 houses. Links are in sources.json.",
    })
    .thinks("researcher", "Three studies with measured values: 56, 102 and 18 houses.", {
      task_id: "research",
    })
    .ends("researcher", "completed", "research")
    .task("research", "in_progress", "completed", "researcher")
    .emit("post_sent", {
      from: "researcher",
      to: "lead",
      message: "Three studies with measured values: 56, 102 and 18 houses. The largest covers 2023 to 2025.",
      kind: "reply",
    })
    .emit("ledger_updated", {
      ledger: { is_progress_being_made: { answer: true, reason: "The studies are there." } },
      current_step: "Compare the numbers",
      stalls: 0,
      replans: 0,
    })
    .emit("round_started", { round: 2 })
    .emit("delegation_started", {
      from: "lead",
      to: "analyst",
      task: "Compare efficiency and cost of the three studies.",
      kind: "delegate",
      level: 1,
      child: keyOf("analyst", "numbers"),
    })
    .task("numbers", "pending", "in_progress", "analyst")
    .begins("analyst", {
      task_id: "numbers",
      tools: ["calculator", "file_write"],
      delegate_level: 1,
      parent: keyOf("lead"),
    })
    .thinks("analyst", "", {
      task_id: "numbers",
      tools: [
        { id: "t4", name: "calculator", args: { expression: "(3.4 + 2.9 + 3.1) / 3" }, output: 3.1333 },
      ],
    })
    .emit(
      "artifact_created",
      { artifact_id: "art_2", path: "numbers.json", version: 1, size: 142, kind: "file" },
      { agent_id: "analyst" },
    )
    .thinks("analyst", "The mean seasonal efficiency is 3.13.", { task_id: "numbers" })
    .ends("analyst", "completed", "numbers")
    .task("numbers", "in_progress", "completed", "analyst")
    .emit("delegation_finished", {
      from: "lead",
      to: "analyst",
      child: keyOf("analyst", "numbers"),
      status: "completed",
    })
    .emit("post_sent", {
      from: "lead",
      to: "writer",
      message: "All material is on the board. One page, three findings.",
      kind: "post",
    })
    .task("text", "pending", "in_progress", "writer")
    .begins("writer", {
      task_id: "text",
      tools: ["file_write", "ask_coworker"],
      delegate_level: 1,
      parent: keyOf("lead"),
    })
    .emit("post_sent", {
      from: "writer",
      to: "analyst",
      message: "Is 3.13 the mean over houses or over studies?",
      kind: "question",
    })
    .emit("post_sent", {
      from: "analyst",
      to: "writer",
      message: "Over studies. Over houses it is 3.2.",
      kind: "answer",
    })
    .thinks("writer", "I write the report.", {
      task_id: "text",
      tools: [
        {
          id: "t5",
          name: "file_write",
          args: { path: "report.md", content: REPORT },
          output: { path: "report.md", version: 1 },
        },
      ],
    })
    .emit(
      "artifact_created",
      { artifact_id: "art_3", path: "report.md", version: 1, size: REPORT.length, kind: "file" },
      { agent_id: "writer" },
    )
    .ends("writer", "completed", "text")
    .task("text", "in_progress", "completed", "writer");
}

/** The writer wants to send the report out and waits for a person. */
function asking(): Story {
  return hierarchical()
    .task("check", "pending", "in_progress", "researcher")
    .begins("researcher", {
      task_id: "check",
      tools: ["http_request"],
      delegate_level: 1,
      parent: keyOf("lead"),
    })
    .thinks("researcher", "The report holds. I send it to the archive.", {
      task_id: "check",
      tools: [
        {
          id: "t6",
          name: "http_request",
          args: {
            method: "POST",
            url: "https://archive.example.org/reports",
            body: { title: "Heat pumps in old houses", text: REPORT },
          },
        },
      ],
    })
    .emit(
      "interaction_requested",
      {
        interaction_id: "ask_1",
        kind: "tool_confirmation",
        title: "Send a request to archive.example.org",
        why: "Agent read a page from the web, and this call can carry data out.",
        fingerprint: "9f2c".repeat(16),
        tool_name: "http_request",
        args: {
          method: "POST",
          url: "https://archive.example.org/reports",
          body: { title: "Heat pumps in old houses", text: REPORT },
        },
        risk: "HIGH",
        taint_sources: ["browse_url"],
        expires_at: 4_000_000_000_000,
      },
      { agent_id: "researcher", task_id: "check", call_id: "t6" },
    );
}

function swarm(): Story {
  return new Story({
    title: "Support swarm",
    process: "swarm",
    goal: "My invoice shows two licences, but I only bought one, and the app no longer starts.",
    members: [
      { agent_id: "triage", role_name: "Triage" },
      { agent_id: "billing", role_name: "Billing" },
      { agent_id: "technician", role_name: "Technician" },
      { agent_id: "sales", role_name: "Sales" },
      { agent_id: "closer", role_name: "Quality reviewer" },
    ],
  })
    .begins("triage", { tools: ["handoff"] })
    .emit("post_sent", {
      from: "user",
      to: "triage",
      message: "My invoice shows two licences.",
      kind: "question",
    })
    .thinks("triage", "An invoice first.", {
      tools: [{ id: "h1", name: "handoff", args: { to: "billing" }, output: "ok" }],
    })
    .emit("handed_off", { from: "triage", to: "billing", reason: "The invoice is wrong", count: 1 })
    .ends("triage", "handed_off")
    .begins("billing")
    .thinks("billing", "The second licence was booked twice; I took it off.")
    .emit("handed_off", {
      from: "billing",
      to: "technician",
      reason: "The app does not start",
      context: { licence: "L-204" },
      count: 2,
    })
    .ends("billing", "handed_off")
    .begins("technician")
    .thinks("technician", "The licence file was stale.", { model: "scripted-free", cost: null })
    .emit("handed_off", {
      from: "technician",
      to: "billing",
      reason: "Is licence L-204 active now?",
      count: 3,
    })
    .ends("technician", "handed_off")
    .begins("billing")
    .thinks("billing", "", { isRunning: true });
}

function consensus(): Story {
  return new Story({
    title: "Release council",
    process: "consensus",
    goal: "Shall version 2 ship on Friday?",
    manager: "chair",
    members: [
      { agent_id: "chair", role_name: "Manager" },
      { agent_id: "developer", role_name: "Developer" },
      { agent_id: "tester", role_name: "Quality reviewer" },
      { agent_id: "support", role_name: "Support" },
      { agent_id: "security", role_name: "Security" },
    ],
  })
    .begins("chair")
    .thinks("chair", "I propose to ship.", { purpose: "manage" })
    .emit("proposal_created", {
      proposal_id: "p1",
      decision: "Ship version 2 on Friday at noon",
      rationale: "All blocking faults are closed and support is staffed.",
      by: "chair",
      stakeholders: ["developer", "tester", "support", "security"],
    })
    .emit("round_started", { round: 1 })
    .begins("developer")
    .thinks("developer", "Yes.", { purpose: "vote" })
    .ends("developer")
    .emit("vote_cast", {
      proposal_id: "p1",
      round: 1,
      agent_id: "developer",
      vote: "approve",
      reasoning: "The build has been green for a week.",
      confidence: 0.9,
    })
    .begins("tester")
    .thinks("tester", "No.", { purpose: "vote" })
    .ends("tester")
    .emit("vote_cast", {
      proposal_id: "p1",
      round: 1,
      agent_id: "tester",
      vote: "reject",
      reasoning: "The migration was tried on one database only.",
      confidence: 0.7,
    })
    .begins("support")
    .thinks("support", "Yes.", { purpose: "vote" })
    .ends("support")
    .emit("vote_cast", {
      proposal_id: "p1",
      round: 1,
      agent_id: "support",
      vote: "approve",
      reasoning: "We are enough people on Friday.",
      confidence: 0.8,
    })
    .begins("security")
    .ends("security", "failed")
    .emit("vote_cast", {
      proposal_id: "p1",
      round: 1,
      agent_id: "security",
      vote: "abstain",
      reasoning: "",
      confidence: null,
      forced: true,
    })
    .emit("consensus_finalized", {
      proposal_id: "p1",
      outcome: "approved",
      rule: "majority",
      approve: 2,
      reject: 1,
      abstain: 1,
      turnout: 0.75,
      decided_by: "votes",
    })
    .ends("chair")
    .close("Ship version 2 on Friday at noon.");
}

function parallel(): Story {
  const story = new Story({
    title: "Development team",
    process: "parallel",
    goal: "Build the sign-up page.",
    members: [
      { agent_id: "designer", role_name: "Designer" },
      { agent_id: "frontend", role_name: "Developer" },
      { agent_id: "backend", role_name: "Developer" },
      { agent_id: "tester", role_name: "Quality reviewer" },
    ],
  }).plan(
    [
      { task_id: "draw", description: "Draw the page", assigned_agent: "designer" },
      { task_id: "form", description: "Build the form", assigned_agent: "frontend", dependencies: ["draw"] },
      {
        task_id: "api",
        description: "Build the endpoint",
        assigned_agent: "backend",
        dependencies: ["draw"],
      },
      {
        task_id: "test",
        description: "Test both together",
        assigned_agent: "tester",
        dependencies: ["form", "api"],
      },
    ],
    "designer",
  );
  return story
    .task("draw", "pending", "in_progress", "designer")
    .begins("designer", { task_id: "draw" })
    .thinks("designer", "A calm page with two fields.", { task_id: "draw" })
    .ends("designer", "completed", "draw")
    .task("draw", "in_progress", "completed", "designer")
    .emit("post_sent", {
      from: "designer",
      to: "frontend",
      message: "Two fields, one button, errors below the fields.",
      kind: "post",
    })
    .emit("post_sent", {
      from: "designer",
      to: "backend",
      message: "Answer with 409 where the address is known.",
      kind: "post",
    })
    .task("form", "pending", "in_progress", "frontend")
    .task("api", "pending", "in_progress", "backend")
    .begins("frontend", { task_id: "form", tools: ["file_write"] })
    .begins("backend", { task_id: "api", tools: ["file_write"] })
    .thinks("frontend", "I write the form.", {
      task_id: "form",
      tools: [{ id: "f1", name: "file_write", args: { path: "form.tsx", content: "…" } }],
    })
    .thinks("backend", "", { task_id: "api", isRunning: true });
}

/** The lead asks a developer, who asks a tester: two levels down and up again. */
function delegation(): Story {
  return new Story({
    title: "Code review",
    process: "sequential",
    goal: "Mend the date parser.",
    members: [
      { agent_id: "lead", role_name: "Lead" },
      { agent_id: "developer", role_name: "Developer" },
      { agent_id: "tester", role_name: "Tester" },
    ],
  })
    .begins("lead", { tools: ["delegate_task"] })
    .thinks("lead", "A developer is better at this.", {
      tools: [
        {
          id: "d1",
          name: "delegate_task",
          args: { to: "developer", task: "Mend the parser" },
          output: "Mended.",
        },
      ],
    })
    .emit("delegation_started", {
      from: "lead",
      to: "developer",
      task: "Mend the parser",
      kind: "delegate",
      level: 1,
      child: keyOf("developer"),
    })
    .begins("developer", { delegate_level: 1, parent: keyOf("lead") })
    .thinks("developer", "Mended; does it hold?")
    .emit("delegation_started", {
      from: "developer",
      to: "tester",
      task: "Does it hold for leap years?",
      kind: "ask",
      level: 2,
      child: keyOf("tester"),
    })
    .begins("tester", { delegate_level: 2, parent: keyOf("developer") })
    .thinks("tester", "It does not: 29 February 2100 passes.")
    .ends("tester", "rejected")
    .emit("delegation_finished", {
      from: "developer",
      to: "tester",
      child: keyOf("tester"),
      status: "failed",
    })
    .thinks("developer", "Mended again.")
    .ends("developer")
    .emit("delegation_finished", {
      from: "lead",
      to: "developer",
      child: keyOf("developer"),
      status: "completed",
    })
    .ends("lead")
    .close("The parser holds for leap years.");
}

/** One whole story for every way in which a crew works, as logs to fold. */
export const stories: Record<
  "hierarchical" | "asking" | "swarm" | "consensus" | "parallel" | "delegation",
  readonly RunEvent[]
> = {
  hierarchical: hierarchical().ends("lead").close(REPORT).events,
  asking: asking().events,
  swarm: swarm().events,
  consensus: consensus().events,
  parallel: parallel().events,
  delegation: delegation().events,
};

export { REPORT };
