import { describe, expect, test } from "vitest";
import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import { readImport } from "../../pipeline";
import { files } from "../../testing";

const AGENTS = `
researcher:
  role: Researcher of {topic}
  goal: Find what matters
  backstory: You read fast.
writer:
  role: Writer
  goal: Write well
  backstory: You write plainly.
idler:
  role: Idler
  goal: Rest
  backstory: You do nothing.
`;
const TASKS = `
write_task:
  description: Write a letter about {topic}.
  expected_output: A letter
research_task:
  description: Read about {topic}.
  expected_output: Five points
unused_task:
  description: Never done.
  expected_output: Nothing
`;
const CREW = `
from typing import List
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, before_kickoff, crew, task
from crewai_tools import SerperDevTool
from pydantic import BaseModel
from .tools.custom_tool import MyCustomTool

class Letter(BaseModel):
    subject: str
    lines: List[str]

def is_short(result):
    return (len(result.raw) < 500, result.raw)

@CrewBase
class LetterCrew():
    """Writes letters"""
    agents_config = 'config/agents.yaml'
    tasks_config = 'config/tasks.yaml'

    @before_kickoff
    def prepare(self, inputs):
        inputs['topic'] = inputs['topic'].strip()
        return inputs

    @agent
    def researcher(self) -> Agent:
        return Agent(
            config=self.agents_config['researcher'],
            tools=[SerperDevTool(), MyCustomTool()],
            llm=LLM(model="gpt-4o"),
            max_iter=7,
            verbose=True,
        )

    @agent
    def author(self) -> Agent:
        return Agent(config=self.agents_config['writer'], allow_delegation=True)

    @task
    def research_task(self) -> Task:
        return Task(config=self.tasks_config['research_task'], agent=self.researcher())

    @task
    def write_task(self) -> Task:
        return Task(
            config=self.tasks_config['write_task'],
            agent=self.author(),
            context=[self.research_task()],
            output_pydantic=Letter,
            guardrail=is_short,
            output_file='letter.md',
        )

    @crew
    def crew(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks, process=Process.sequential, verbose=True, memory=True)
`;
const MAIN = `
from letters.crew import LetterCrew

def run():
    inputs = {'topic': 'owls', 'current_year': str(datetime.now().year)}
    LetterCrew().crew().kickoff(inputs=inputs)
`;
const folder = (crew: string, more: Readonly<Record<string, string>> = {}) =>
  files({
    "src/letters/config/agents.yaml": AGENTS,
    "src/letters/config/tasks.yaml": TASKS,
    "src/letters/crew.py": crew,
    ...more,
  });
const read = (...args: Parameters<typeof readImport>) => {
  const result = readImport(...args);
  const { imported } = result;
  if (!imported?.graph) throw new Error(JSON.stringify(result.findings, null, 1));
  return { ...result, imported, graph: imported.graph };
};
type Read = ReturnType<typeof read>;
const stepsOf = ({ graph }: Read) =>
  Object.values(graph.nodes)
    .filter(isAgentNode)
    .map(({ id, config }) => `${id}: ${config.required_role}`);
const messagesOf = ({ findings }: Read, level: string) =>
  findings.flatMap((finding) =>
    finding.level === level ? [`${finding.file ?? ""}:${finding.line ?? ""} ${finding.message}`] : [],
  );

describe("crew.py with YAML files", () => {
  const whole = () => read(folder(CREW, { "src/letters/main.py": MAIN }));

  test("crew.py determines task order and assignees, so that neither is asked", () => {
    const crew = whole();
    expect(crew.found.map(({ format, files }) => ({ format, files }))).toEqual([
      {
        format: "crewai-yaml",
        files: [
          "src/letters/config/agents.yaml",
          "src/letters/config/tasks.yaml",
          "src/letters/crew.py",
          "src/letters/main.py",
        ],
      },
    ]);
    expect(stepsOf(crew)).toEqual(["research_task: Researcher", "write_task: Writer"]);
    expect(crew.imported.choices.map(({ id }) => id)).toEqual(["shape"]);
    expect(messagesOf(crew, "placeholder")).toEqual([]);
  });

  test("crew.py provides tools, iterations, contexts, output schemas and inputs", () => {
    const crew = whole();
    expect(crew.imported.tools.map(({ name, ours, by }) => ({ name, ours, by }))).toEqual([
      { name: "SerperDevTool", ours: "web_search", by: ["Researcher"] },
      { name: "MyCustomTool", ours: undefined, by: ["Researcher"] },
    ]);
    expect(crew.graph.nodes.research_task?.config).toMatchObject({ max_iterations: 7 });
    expect(crew.graph.nodes.write_task).toMatchObject({
      input_keys: ["research_task"],
      config: {
        output_schema: {
          properties: {
            write_task: { properties: { subject: { type: "string" }, lines: { type: "array" } } },
          },
        },
      },
    });
    expect(crew.graph.nodes.start?.config).toMatchObject({ topic: "owls" });
  });

  test("lost settings of crew.py are reported with their line, and its code becomes notes", () => {
    const crew = whole();
    const lineOf = (text: string) => CREW.split("\n").findIndex((line) => line.includes(text)) + 1;
    const report = (text: string) => `src/letters/crew.py:${lineOf(text)}`;
    expect(messagesOf(crew, "dropped")).toEqual([
      expect.stringMatching(`${report("@before_kickoff")} .*"prepare"`),
      expect.stringMatching(`${report("llm=LLM")} The model gpt-4o`),
      expect.stringMatching(`${report("output_file=")} .*letter.md`),
      expect.stringMatching(`${report("guardrail=")} .*is_short`),
      expect.stringMatching(/tasks\.yaml:8 crew\.py doesn't use the task "unused_task"/),
      expect.stringMatching(`${report("tools=")} .*MyCustomTool`),
      expect.stringMatching(`${report("memory=True")} .*had memory`),
    ]);
    const notes = Object.values(crew.graph.nodes).filter(({ node_type }) => node_type === "note");
    expect(notes.map(({ name }) => name)).toEqual(["is_short", "prepare"]);
    expect(messagesOf(crew, "info").join("\n")).toMatch(/agent "idler" has no tasks/);
  });

  test.each([
    ["planning=True", { planning: true }],
    ["memory=True", { memory: true }],
  ])("a crew imported as a single step keeps %s", (setting, kept) => {
    const crew = read(folder(CREW.replace("memory=True", setting)), { answers: { shape: "crew" } });
    expect(
      Object.values(crew.graph.nodes)
        .filter(isCrewNode)
        .map(({ config }) => config.crew),
    ).toEqual([expect.objectContaining(kept)]);
  });

  test("a hierarchical crew is led by its named manager or a generated manager", () => {
    const leads = (crew: string) =>
      Object.values(read(folder(crew)).graph.nodes)
        .filter(isCrewNode)
        .map(({ config }) => config.crew?.manager?.agent_id);
    const led = CREW.replace("Process.sequential", "Process.hierarchical, manager_llm='gpt-4o'");
    expect(leads(led)).toEqual(["manager"]);
    expect(leads(led.replace("manager_llm='gpt-4o'", "manager_agent=self.author()"))).toEqual(["writer"]);
  });

  test("the crew's own task order applies, and tasks outside the crew are reported", () => {
    const crew = read(
      folder(
        CREW.replace("tasks=self.tasks", "tasks=[self.write_task()]").replace(
          "context=[self.research_task()],",
          "",
        ),
      ),
    );
    expect(stepsOf(crew)).toEqual(["write_task: Writer"]);
    expect(messagesOf(crew, "dropped").filter((line) => line.includes('"research_task"'))).toHaveLength(1);
  });

  test("an agent that no file describes prevents the import and is reported with its line", () => {
    const { imported, findings } = readImport(
      folder(CREW.replace("agents_config['writer']", "agents_config['poet']")),
    );
    expect(imported).toBeNull();
    expect(findings.find(({ level }) => level === "error")).toMatchObject({
      file: "src/letters/crew.py",
      message: expect.stringContaining('"poet"') as string,
    });
  });

  test("loose files of a crew are combined", () => {
    const crew = read(files({ "agents.yaml": AGENTS, "tasks.yaml": TASKS, "crew.py": CREW }));
    expect(stepsOf(crew)).toEqual(["research_task: Researcher", "write_task: Writer"]);
    expect(crew.imported.name).toBe("Letter Crew");
  });

  test("several crews each keep their own code", () => {
    const other = CREW.replaceAll("LetterCrew", "OtherCrew").replace(
      "tasks=self.tasks",
      "tasks=[self.research_task()]",
    );
    const two = files({
      "a/config/agents.yaml": AGENTS,
      "a/config/tasks.yaml": TASKS,
      "a/crew.py": CREW,
      "b/config/agents.yaml": AGENTS,
      "b/config/tasks.yaml": TASKS,
      "b/crew.py": other,
      "main.py":
        "from crewai.flow import Flow\nfrom a.crew import LetterCrew\nfrom b.crew import OtherCrew\nclass F(Flow):\n  pass\n",
    });
    expect(read(two, { pick: 0 }).found.map(({ format, title }) => [format, title])).toEqual([
      ["crewai-yaml", "a"],
      ["crewai-yaml", "b"],
    ]);
    expect(stepsOf(read(two, { pick: 0 }))).toHaveLength(2);
    expect(stepsOf(read(two, { pick: 1 }))).toHaveLength(1);
  });

  test("unparsable code leaves the rest readable", () => {
    expect(stepsOf(read(folder(`${CREW}\n\nthis is = not python (\n`)))).toHaveLength(2);
  });
});

describe("Python-only crews", () => {
  test("agents and tasks in variables are imported", () => {
    const crew = read(
      files({
        "main.py": `
from crewai import Agent, Task, Crew
from crewai_tools import SerperDevTool
search = SerperDevTool()
topic = "owls"
researcher = Agent(role='Researcher', goal='Find what is new about {topic}', backstory="""You read.""", tools=[search], allow_delegation=False)
writer = Agent(role='Writer', goal='Write', backstory='You write.')
research = Task(description=f"Read about {topic}", expected_output='Points', agent=researcher)
write = Task(description='Write it', expected_output='A text', agent=writer, human_input=True)
crew = Crew(agents=[researcher, writer], tasks=[research, write], verbose=2)
result = crew.kickoff(inputs={'topic': 'AI'})
`,
      }),
      { answers: { shape: "chain" } },
    );
    expect(crew.found).toMatchObject([{ format: "crewai-code", label: "a CrewAI crew in Python" }]);
    expect(stepsOf(crew)).toEqual(["research: Researcher", "write: Writer", "write_check: "]);
    expect(crew.graph.nodes.research?.config).toMatchObject({ task_description_template: "Read about owls" });
    expect(crew.graph.nodes.start?.config).toMatchObject({ topic: "AI" });
  });

  test("agents and tasks returned by methods in other files are imported with their arguments", () => {
    const crew = read(
      files({
        "agents.py": `
from crewai import Agent
from textwrap import dedent
class TripAgents:
    def local_expert(self):
        return Agent(role='Local Expert', goal=dedent("""\\
            Know the city"""), backstory='You live there.', verbose=True)
    def planner(self, llm):
        planner = Agent(role='Planner', goal='Plan', backstory='You plan.', llm=llm)
        return planner
`,
        "tasks.py": `
from crewai import Task
from textwrap import dedent
class TripTasks:
    def gather(self, agent, city, interests):
        return Task(description=dedent(f"""
            Gather what there is in {city}.
            {self.__tip_section()}
            Interests: {interests}
        """), agent=agent, expected_output="A guide")
    def plan(self, agent):
        return Task(description="Plan the days", expected_output="A plan", agent=agent)
`,
        "main.py": `
from crewai import Crew
from agents import TripAgents
from tasks import TripTasks
class TripCrew:
    def __init__(self, city, interests):
        self.city = city
        self.interests = interests
    def run(self):
        agents = TripAgents()
        tasks = TripTasks()
        expert = agents.local_expert()
        planner = agents.planner(None)
        gather_task = tasks.gather(expert, self.city, self.interests)
        plan_task = tasks.plan(planner)
        crew = Crew(agents=[expert, planner], tasks=[gather_task, plan_task])
        return crew.kickoff()
`,
      }),
    );
    expect(stepsOf(crew)).toEqual(["gather: Local Expert", "plan: Planner"]);
    expect(crew.graph.nodes.gather?.config).toMatchObject({
      task_description_template: expect.stringContaining("Gather what there is in {{city}}.") as string,
    });
    expect(crew.graph.nodes.start?.output_keys).toEqual(["city", "value", "interests"]);
    expect(crew.imported.name).toBe("Trip Crew");
  });

  test("several crews run in sequence, and a finding says that code decided the order", () => {
    const crew = read(
      files({
        "main.py": `
from crewai import Agent, Task, Crew
a = Agent(role='A', goal='a', backstory='a')
one = Task(description='One', expected_output='x', agent=a)
two = Task(description='Two', expected_output='x', agent=a)
if Crew(agents=[a], tasks=[one]).kickoff() != 'STOP':
    Crew(agents=[a], tasks=[two]).kickoff()
`,
      }),
    );
    expect(stepsOf(crew)).toEqual(["one: A", "two: A"]);
    expect(messagesOf(crew, "changed")).toEqual([expect.stringMatching(/^main\.py:7 .*another crew/)]);
  });

  test("a local module named agents isn't taken for the OpenAI Agents SDK", () => {
    const { found } = readImport(
      files({
        "agents.py": "class Agent:\n  pass\n\na = Agent(name='x')\n",
        "main.py": "from agents import a\n",
      }),
    );
    expect(found).toEqual([]);
  });

  test("tasks executed without a crew are placed in the order of the code", () => {
    const crew = read(
      files({
        "config/agents.yaml": AGENTS,
        "config/tasks.yaml": TASKS,
        "letters.py": `
from crewai import Agent, Task, Crew
writer = Agent(config=agents_config["writer"], tools=[*toolkit.get_tools(), SerperDevTool()])
first = Task(description=tasks_config["research_task"]["description"], expected_output=tasks_config["research_task"]["expected_output"], agent=writer)
if "STOP" in first.execute():
    exit()
second = Task(config=tasks_config["write_task"], agent=writer)
crew = Crew(agents=[writer], tasks=[second])
crew.kickoff()
`,
      }),
    );
    expect(stepsOf(crew)).toEqual(["research_task: Writer", "write_task: Writer"]);
    expect(crew.graph.nodes.research_task?.config).toMatchObject({ expected_output: "Five points" });
    expect(messagesOf(crew, "dropped").slice(0, 2)).toEqual([
      expect.stringContaining("toolkit.get_tools()"),
      expect.stringContaining("unused_task"),
    ]);
  });

  test("names in a spread record are resolved where the record is written", () => {
    const { imported } = readImport(
      files({
        "crew.py": `
from crewai import Agent, Crew, Task
role = "Outer"
def make(role, more):
    return Agent(role=role, backstory="b", **more)
one = make("Inner", {"goal": role})
Crew(agents=[one], tasks=[Task(description="d", expected_output="e", agent=one)])
`,
      }),
    );
    expect(imported?.roles).toMatchObject([{ name: "Inner", goals: ["Outer"] }]);
  });

  test("agents without a crew become roles", () => {
    const { imported } = readImport(
      files({ "agents.py": "from crewai import Agent\na = Agent(role='A', goal='g', backstory='b')\n" }),
    );
    expect(imported).toMatchObject({ graph: null, roles: [{ name: "A" }] });
  });

  test("resolving circular definitions terminates, and __proto__ names resolve to nothing", () => {
    const text = `
from crewai import Agent, Task, Crew
def a():
    return b()
def b():
    return a()
x = y
y = x
__proto__ = Agent(role='A', goal='a', backstory='a', **{"__proto__": {"polluted": True}})
constructor = Task(description='T', expected_output='x', agent=a(), context=[constructor])
crew = Crew(agents=[a(), x], tasks=[x, constructor], process=x)
`;
    const result = readImport(files({ "main.py": text }));
    expect(result.found.map(({ format }) => format)).toEqual(["crewai-code"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(result.findings.length).toBeGreaterThan(0);
  });
});
