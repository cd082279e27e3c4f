import { describe, expect, test } from "vitest";
import { type Held, missingIn } from "./held";

/*
 * What the reference documents promise, each in a sentence, with the tests that hold it. A test that is renamed or
 * removed fails here until another holds its promise.
 */

const ROLES = "conformance/openhands-roles.test.ts";
const HUB = "conformance/openhands-agent-hub.test.ts";
const GRAPHS = "conformance/openhands-graphs.test.ts";
const ROBOCO = "conformance/roboco.test.ts";
const TASKWEAVER = "conformance/taskweaver.test.ts";

const PROMISES: Readonly<Record<string, readonly Held[]>> = {
  "a role is a definition in YAML or a form, with goals, duties and tools": [
    [ROLES, "the RoleDefinition example in YAML is read unchanged"],
    [ROLES, "a new role needs no code, only a definition with tools and an output schema"],
  ],
  "an agent has its own role, model and settings": [
    [ROLES, "AgentConfig fills in its defaults"],
    [ROLES, "llm_config of an agent overrides the default"],
  ],
  "a task brings its context, and its result has output, tokens and cost": [
    [ROLES, "TaskContext passes the task, the goal and earlier results to the agent"],
    [ROLES, "TaskResult has tokens and cost of every task and node, and an unknown price is null"],
  ],
  "tools are registered, checked and answer with a status code": [
    [ROLES, "ToolsRegistry registers, returns and unregisters tools"],
    [ROLES, "ToolsRegistry.invoke returns 200, 400, 404 or 500 and never throws"],
  ],
  "an agent uses only the tools of its role": [
    [ROLES, "RoleDefinition.tools limits access even if an agent asks for more"],
  ],
  "a crew manager gives each task of a plan to an agent of its role": [
    [ROLES, "tasks run in order on the agents of their roles, and the plan records their results"],
    [ROLES, "load balancing assigns two tasks of one role to two agents"],
  ],
  "planner, developer, researcher and QA follow their procedures": [
    [ROLES, "developer, researcher and QA roles follow the documented steps"],
    [ROLES, "QA returns an assessment, issues, suggestions and confidence as JSON with its verdict"],
  ],
  "a workflow is a graph in a file that is read and written back": [
    [GRAPHS, "the example is read without findings"],
    [GRAPHS, "the example can be written in the document's own terms and read back unchanged"],
  ],
  "a workflow runs along its edges, and its routers decide by registered rules": [
    [GRAPHS, "an approved request takes the approved route and merges outputs into the state"],
    [GRAPHS, "a rule that returns no route name stops the run and is named in the error"],
  ],
  "nodes do real tasks, map values, retry and run in parallel": [
    [GRAPHS, "agent and crew tasks use tools by role and write their outputs to the state"],
    [GRAPHS, "branches run in parallel and join"],
    ["runner/node/output.test.ts", "an output mapping derives a node's output from its result"],
  ],
  "the state has a schema, and an error has its own route": [
    [GRAPHS, "strict state enforces the schema of the state"],
    [GRAPHS, "a failing node can have its own error route"],
  ],
  "there are nodes for people, requests, code and loops": [
    ["runner/node/node-tool.test.ts", "a code node computes from its input"],
    [GRAPHS, "a router can form a loop, which ends at its limit"],
    ["runner/children/child-runs.test.ts", "starts a separate run and returns its output"],
    [
      "runner/children/child-crashes.test.ts",
      "a map that is killed again and again loses no item and does none twice",
    ],
  ],
  "the state of an agent is kept with its counters, levels and last error": [
    [HUB, "multi-agent state tracks the root task, subtasks, shared and local iterations"],
    [HUB, "an agent's state goes from loading to running to finished, rejected or error"],
  ],
  "actions and observations have the documented kinds and can be written and read": [
    [HUB, "every documented action exists, and tool calls map to these actions"],
    [HUB, "to_dict hides the raw error that to_memory keeps, and both can be read back"],
  ],
  "agents delegate over several levels, and the counters go with them": [
    [HUB, "delegation works over several levels, up to the depth limit"],
    [
      "runner/crew/delegates.test.ts",
      "a delegate keeps the tools of its own role unless the crew says otherwise",
    ],
  ],
  "an agent that is stuck, needs confirmation or is too fast is held": [
    [HUB, "the hub state reports an almost stuck agent, the last error and the task's data"],
    [HUB, "confirmation mode waits for a person, who confirms or rejects"],
    [HUB, "rate limits throttle a run"],
  ],
  "plan.json is read, continues where it stopped and asks people at its points": [
    [ROBOCO, "the example plan resumes where it left off, in order, with its agents"],
    [ROBOCO, "execution_mode decides if a person is asked"],
  ],
  "agents change their plan with tools, version by version": [
    [ROBOCO, "plan tools change the plan version by version, and added tasks run"],
  ],
  "an agent hands off to another, which is checked and remembered": [
    [ROBOCO, "a handoff is intercepted, validated, remembered and executed"],
    ["runner/crew/handoff-everywhere.test.ts", "hands off %s with its context"],
  ],
  "groups work at once, meet at sync points and take parallel handoffs": [
    [ROBOCO, "3.1 a parallel group meets with its coordinator at every sync point"],
    [ROBOCO, "wait_all waits for all agents and reports failures"],
  ],
  "teams are created, changed and dissolved in a run": [
    [ROBOCO, "3.2 teams can be created, changed and dissolved during a run"],
    [
      "runner/crew/tools/team.test.ts",
      "a team with unfinished tasks can't be dissolved until they are reassigned",
    ],
  ],
  "agents propose, vote and reach consensus": [
    [ROBOCO, "3.3 consensus tools record proposals and votes, and the run counts them"],
  ],
  "a team defines its own patterns": [
    [ROBOCO, "the example runs through its loops to the end"],
    [ROBOCO, "a failure follows the route of the pattern"],
  ],
  "people approve, give feedback, advise and are called after errors": [
    ["runner/agent/tools/person-tools.test.ts", "request_approval shows the action"],
    ["runner/agent/tools/person-tools.test.ts", "request_feedback returns an answer to each question"],
    ["runner/people/question-modes.test.ts", "an advisory question continues with the default answer"],
    [
      "runner/people/escalation.test.ts",
      "a person is asked after a number of errors, and again after as many more",
    ],
  ],
  "tools are built in, declared in a file, and called by programs of a session": [
    [ROBOCO, "6.1 built-in crew tools have the names in the document"],
    [
      "interop/import/formats/tools-yaml.test.ts",
      "one role gets its tools, and each program and server comes with",
    ],
    ["tools/operator/session-calls.test.ts", "a program calls a tool by position and by name"],
  ],
  "a crew remembers, shares its history and routes by past work": [
    [ROBOCO, "7.1 decisions and files form a history that all agents share"],
    [ROBOCO, "7.2 members' past work appears in the handoff prompt and decides unassigned tasks"],
  ],
  "models without tool calls use tools by text": [
    [ROBOCO, "8.1 the prompt lists tools with signatures and the TOOL_CALL format"],
    [ROBOCO, "8.4 an agent gets the error of an invalid call and can retry"],
  ],
  "a run is stepped through, stopped at breakpoints and instructed": [
    [
      "runner/people/control.test.ts",
      "a run in step mode stops before each node and ends with the same result",
    ],
    ["runner/people/control.test.ts", "a breakpoint on a node pauses the run only in breakpoint mode"],
    ["runner/people/instructions.test.ts", "an instruction to a paused run reaches the next model call"],
  ],
  "files of other frameworks come in, also flows and roles in Python": [
    ["interop/import/formats/crewai/python-flow.test.ts", "a router's labels become routes"],
    ["interop/import/formats/openhands/python-code.test.ts", "a plan with its roles becomes a workflow"],
    ["conformance/reference-examples.test.ts", "each reference example is covered exactly once"],
  ],
  "a planner talks with its roles, which share a board and variables and may answer by rule": [
    [TASKWEAVER, "the planner sends one step to each role and responds after their replies"],
    [TASKWEAVER, "write_board and read_board keep the last bulletin of each alias"],
    [TASKWEAVER, "the code interpreter keeps its variables between programs of a task"],
    ["runner/agent/by-rule.test.ts", "an echo answers with the task"],
  ],
};

describe("the promises of the reference documents", () => {
  test.each(Object.entries(PROMISES))("are held by tests that exist: %s", (_promise, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(missingIn(tests)).toEqual([]);
  });
});
