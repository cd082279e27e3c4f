import { describe, expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { type ImportRead, readImport } from "../../pipeline";
import { files } from "../../testing";
import { blockingProblems, runOffline } from "../testing/offline-run";

/** A flow as people paste it: no file name, the imports of CrewAI before it. */
const flow = (body: string, before = ""): ImportRead =>
  readImport([
    {
      path: "",
      text: `from crewai.flow.flow import Flow, and_, listen, or_, router, start\nfrom crewai import Agent, Crew, LLM, Task\nfrom litellm import completion\nfrom pydantic import BaseModel\n${before}\nclass TravelFlow(${before.includes("class State") ? "Flow[State]" : "Flow"}):\n${body.replaceAll(/^(?=.)/gm, "    ")}`,
    },
  ]);
const graphOf = ({ imported }: ImportRead): WorkflowGraph => imported?.graph ?? expect.fail("No workflow.");
const linesOf = (read: ImportRead) =>
  graphOf(read).edges.map(({ source_node_id, target_node_id, edge_label }) =>
    [source_node_id, target_node_id, ...(edge_label ? [edge_label] : [])].join(" "),
  );
const node = (read: ImportRead, id: string) => graphOf(read).nodes[id] ?? expect.fail(`No ${id}.`);
const said = ({ findings }: ImportRead, level: string) =>
  findings.filter((one) => one.level === level).map(({ line, message }) => `${line}: ${message}`);

const CITY = `
"""Plans a trip."""
model = "gpt-4o-mini"

@start()
def pick_city(self):
    print("Starting")
    response = completion(
        model=self.model,
        messages=[{"role": "user", "content": "Name a random city."}],
    )
    city = response["choices"][0]["message"]["content"]
    self.state["city"] = city
    return city

@listen(pick_city)
def tell_fact(self, city):
    response = completion(
        model=self.model,
        messages=[
            {"role": "system", "content": "You are brief."},
            {"role": "user", "content": f"Tell me a fun fact about {city} in {self.state['city']}"},
        ],
    )
    return response.choices[0].message.content
`;

describe("flows in Python", () => {
  test("methods that call a model become steps, with the texts that they send", async () => {
    const read = flow(CITY);
    expect(read.found[0]?.label).toBe("a CrewAI Python flow");
    expect(said(read, "placeholder")).toEqual([]);
    expect(linesOf(read)).toEqual([
      "pick_city_step_1 pick_city",
      "start pick_city_step_1",
      "pick_city tell_fact",
      "tell_fact end",
    ]);
    expect(node(read, "pick_city_step_1").config).toMatchObject({
      required_role: "Assistant",
      task_description_template: "Name a random city.",
    });
    expect(node(read, "pick_city").config).toEqual({
      set: { city: "state.pick_city_step_1", pick_city: "state.pick_city_step_1" },
    });
    expect(node(read, "tell_fact").config).toMatchObject({
      task_description_template: "Tell me a fun fact about {{pick_city}} in {{city}}",
    });
    expect(graphOf(read).description).toBe("Plans a trip.");
    expect(said(read, "dropped").join("\n")).toContain("The model gpt-4o-mini was left out");
    const imported = read.imported ?? expect.fail();
    expect(blockingProblems(imported)).toEqual([]);
    const { state } = await runOffline(imported);
    expect(state.run).toMatchObject({ final_status: "COMPLETED", warnings: [] });
  });

  test("a router's labels become routes, and its conditions an expression", async () => {
    const read = flow(
      `
@start()
def begin(self):
    self.state.score += 2
    self.state.words.append("owl")

@router(begin)
def judge(self):
    if self.state.score > 8 and not self.state.is_draft:
        return "good"
    elif self.state.name:
        return "fair"
    return "bad"

@listen(or_("good", "fair"))
def praise(self):
    return f"Well done, {self.state.name.upper()}!"

@listen("bad")
def scold(self):
    print("Too bad.")
`,
      `
class State(BaseModel):
    score: int = 7
    is_draft: bool = False
    name: str = "Ada"
    words: list[str] = []
`,
    );
    expect(said(read, "placeholder")).toEqual([]);
    expect(linesOf(read)).toEqual([
      "judge judge_route",
      "start begin",
      "begin judge",
      "judge_route praise good",
      "judge_route praise fair",
      "judge_route scold bad",
      "praise end",
      "scold end",
    ]);
    expect(node(read, "judge").config).toEqual({
      set: {
        judge: '(((state.score > 8) && !state.is_draft) ? "good" : ((state.name != "") ? "fair" : "bad"))',
      },
    });
    expect(node(read, "start").config).toMatchObject({ score: 7, is_draft: false, name: "Ada" });
    const imported = read.imported ?? expect.fail();
    const { state } = await runOffline(imported, { score: 7, is_draft: false, name: "Ada", words: [] });
    expect(state.run).toMatchObject({ final_status: "COMPLETED", output: { praise: "Well done, ADA!" } });
  });

  test("a crew of another file and its YAML becomes one step", async () => {
    const read = readImport(
      files({
        "main.py": `
from crewai.flow import Flow, listen, start
from pydantic import BaseModel
from crews.poem.poem_crew import PoemCrew

class PoemState(BaseModel):
    topic: str = "owls"
    poem: str = ""

class PoemFlow(Flow[PoemState]):
    @start()
    def write_poem(self):
        result = PoemCrew().crew().kickoff(inputs={"topic": self.state.topic, "lines": 4})
        self.state.poem = result.raw

    @listen(write_poem)
    def save_poem(self):
        with open("poem.txt", "w") as file:
            file.write(self.state.poem)

def kickoff():
    PoemFlow().kickoff(inputs={"topic": "cats"})
`,
        "crews/poem/poem_crew.py": `
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, crew, task

@CrewBase
class PoemCrew:
    @agent
    def poet(self) -> Agent:
        return Agent(config=self.agents_config["poet"])

    @task
    def write(self) -> Task:
        return Task(config=self.tasks_config["write"])

    @crew
    def crew(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks, process=Process.sequential)
`,
        "crews/poem/config/agents.yaml":
          "poet:\n  role: Poet\n  goal: Write poems\n  backstory: You rhyme.\n",
        "crews/poem/config/tasks.yaml":
          "write:\n  description: Write {lines} lines about {topic}.\n  expected_output: A poem\n  agent: poet\n",
      }),
    );
    expect(read.found.map(({ format }) => format)).toEqual(["crewai-flow-code"]);
    expect(linesOf(read)).toEqual([
      "write_poem_step_1 write_poem",
      "start write_poem_step_1",
      "write_poem save_poem",
      "save_poem end",
    ]);
    expect(node(read, "write_poem_step_1")).toMatchObject({
      node_type: "crew_task",
      input_mapping: { topic: "state.topic", lines: "4" },
    });
    expect(node(read, "start").config).toMatchObject({ topic: "cats", poem: "" });
    const placeholders = read.findings.filter(({ level }) => level === "placeholder");
    expect(placeholders.map(({ file, line }) => [file, line])).toEqual([["main.py", 18]]);
    const note = Object.values(graphOf(read).nodes).find(({ node_type }) => node_type === "note");
    expect(note?.config).toMatchObject({
      text: expect.stringContaining("file.write(self.state.poem)") as string,
    });
  });

  test("agents and crews made in a method are its steps, and what they answer goes on", () => {
    const read = flow(
      `
@start()
async def research(self):
    analyst = Agent(role="Analyst", goal=f"Find prices of {self.state.product}", backstory="You count.")
    query = f"""
    Study {self.state.product}.
    """
    result = await analyst.kickoff_async(query, response_format=Report)
    if result.pydantic:
        print(result.pydantic)
    return {"price": result.pydantic.price}

@listen(research)
def write(self, found):
    writer = Agent(role="Writer", goal="Write", backstory="You write.")
    task = Task(description="Write about {price}.", expected_output="A page", agent=writer)
    return Crew(agents=[writer], tasks=[task]).kickoff(inputs={"price": found["price"]})
`,
      `
class Report(BaseModel):
    price: float

class State(BaseModel):
    product: str = "lamps"
`,
    );
    expect(said(read, "placeholder")).toEqual([]);
    expect(read.imported?.roles.map(({ name, goals }) => [name, goals])).toEqual([
      ["Analyst", ["Find prices of {product}"]],
      ["Writer", ["Write"]],
    ]);
    expect(node(read, "research_step_1").config).toMatchObject({
      task_description_template: expect.stringContaining("Study {{product}}.") as string,
      output_schema: { properties: { research_step_1: { properties: { price: { type: "number" } } } } },
    });
    expect(node(read, "research").config).toEqual({
      set: { research: '{"price": state.research_step_1.price}' },
    });
    expect(node(read, "write")).toMatchObject({
      node_type: "crew_task",
      input_mapping: { price: "state.research.price" },
    });
    expect(blockingProblems(read.imported ?? expect.fail())).toEqual([]);
  });

  test("code that only Python can run becomes an empty step with the code in a note", () => {
    const read = flow(`
@start()
def roll(self):
    self.state["count"] = randint(1, 5)
    for word in fetch():
        self.state["word"] = word

@router(roll)
def choose(self):
    return "many" if self.state["count"] > 2 and check(self.state["word"]) else "few"

@listen("many")
def rest(self):
    pass
`);
    expect(said(read, "placeholder")).toHaveLength(2);
    expect(said(read, "placeholder")[0]).toMatch(/^10: This is code\. "Roll" is now an empty step/);
    expect(node(read, "roll").output_keys).toEqual(["roll", "count", "word"]);
    expect(linesOf(read)).toContain("choose_route rest many");
    expect(linesOf(read)).toContain("choose_route end few");
  });

  test("helpers and inputs that code builds are reported", () => {
    const read = flow(`
def clean(self, text):
    return text.strip()

@start()
def write(self):
    writer = Agent(role="Writer", goal="Write", backstory="You write.")
    task = Task(description="Write about {topic}.", expected_output="A page", agent=writer)
    return Crew(agents=[writer], tasks=[task]).kickoff(inputs=build())
`);
    expect(said(read, "dropped")).toContain(
      '8: "clean" is code that no step of the flow is made of; it was left out.',
    );
    expect(said(read, "changed").join()).toContain("15: The crew's inputs are built in code");
    expect(node(read, "write").input_mapping).toEqual({ topic: "state.topic" });
  });

  test("a person's feedback chooses the way", () => {
    const read = flow(`
@start("revise")
@human_feedback(message="Is this good?", emit=["approved", "revise"], llm="gpt-4o-mini")
def draft(self):
    return LLM(model="gpt-4o").call("Write a slogan.")

@start()
def begin(self):
    return "go"

@listen(and_(begin, "approved"))
def publish(self):
    return "done"
`);
    expect(node(read, "draft_feedback")).toMatchObject({
      node_type: "approval_gate",
      config: { options: ["approved", "revise"] },
    });
    expect(linesOf(read)).toContain("draft_feedback draft revise");
  });

  test("a name that another method uses stays unknown in a method that doesn't set it", () => {
    const read = flow(`
@start()
def one(self):
    city = "Paris"
    return city

@listen("elsewhere")
def two(self, city):
    return f"{city}"
`);
    expect(node(read, "one").config).toEqual({ set: { one: '"Paris"' } });
    expect(said(read, "placeholder").join()).toContain('"Two"');
  });

  test("deeply nested conditions end in an empty step, not in endless work", () => {
    const body = Array.from(
      { length: 40 },
      (_, at) => `    if self.state["a${at}"] > 1:\n        self.state["b"] += 1\n`,
    );
    const read = flow(`@start()\ndef begin(self):\n${body.join("")}    return self.state["b"]\n`);
    expect(read.imported).not.toBeNull();
  });
});
