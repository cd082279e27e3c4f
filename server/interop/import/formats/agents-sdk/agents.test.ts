import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import { readImport } from "../../pipeline";

/** A program, with the roles of its agents. */
interface Shape {
  what: string;
  file: string;
  text: string;
  roles: string[];
}

const SHAPES: Shape[] = [
  {
    what: "attributes of a class",
    file: "class_attrs.py",
    roles: ["Triage", "Billing"],
    text: `import asyncio
from agents import Agent, Runner

class Support:
    triage = Agent(name="Triage", instructions="Decide what this is about.")
    billing: Agent = Agent(name="Billing", instructions="Answer about bills.", model="gpt-4.1")

    async def run(self, question: str) -> str:
        first = await Runner.run(self.triage, question)
        second = await Runner.run(self.billing, first.final_output)
        return second.final_output

if __name__ == "__main__":
    asyncio.run(Support().run("Why?"))
`,
  },
  {
    what: "attributes set in __init__",
    file: "init_attrs.py",
    roles: ["Triage", "Billing"],
    text: `from agents import Agent, Runner, function_tool

@function_tool
def look_up(order: str) -> str:
    """Looks up an order."""
    return order

class Desk:
    def __init__(self, tone: str = "kind"):
        self.tone = tone
        self.billing = Agent(name="Billing", instructions="Answer about bills.", tools=[look_up])
        self.triage = Agent(name="Triage", instructions=f"Be {tone}. Hand over.", handoffs=[self.billing])

    async def answer(self, message: str):
        result = await Runner.run(self.triage, message)
        return result.final_output
`,
  },
  {
    what: "methods, static methods and properties that return agents",
    file: "methods.py",
    roles: ["Writer", "Editor", "Critic"],
    text: `from dataclasses import dataclass
from agents import Agent, Runner

class Factory:
    def writer(self) -> Agent:
        return Agent(name="Writer", instructions="Write a draft.")

    @staticmethod
    def editor() -> Agent:
        agent = Agent(name="Editor", instructions="Correct the draft.")
        return agent

    @property
    def critic(self):
        return Agent(name="Critic", instructions="Find faults.", handoffs=[self.writer()])

class Manager:
    def __init__(self):
        self.factory = Factory()

    async def run(self, topic: str):
        draft = await self._draft(topic)
        final = await Runner.run(self.factory.editor(), draft)
        return final.final_output

    async def _draft(self, topic):
        result = await Runner.run(self.factory.writer(), f"Topic: {topic}")
        return result.final_output_as(str)
`,
  },
  {
    what: "fields of a dataclass",
    file: "dataclass.py",
    roles: ["Planner", "Worker"],
    text: `from dataclasses import dataclass, field
from agents import Agent, Runner

@dataclass
class Team:
    planner: Agent = field(default_factory=lambda: Agent(name="Planner", instructions="Plan."))
    worker: Agent = field(default_factory=lambda: Agent(name="Worker", instructions="Work."))
    agents: dict = field(default_factory=dict)

    async def go(self, goal: str):
        plan = await Runner.run(self.planner, goal)
        done = await Runner.run(self.worker, plan.final_output)
        return {"result": done.final_output}
`,
  },
  {
    what: "a subclass of Agent",
    file: "subclass.py",
    roles: ["Support"],
    text: `from agents import Agent, Runner

class SupportAgent(Agent):
    def __init__(self):
        super().__init__(name="Support", instructions="Help people.", model="gpt-4o")

support = SupportAgent()

async def main(question: str):
    result = await Runner.run(support, question)
    print(result.final_output)
`,
  },
  {
    what: "agents in a dictionary, a list and a parameterized function",
    file: "dictof.py",
    roles: ["English", "Poet", "Cook", "German", "One", "Two"],
    text: `from agents import Agent, Runner

AGENTS = {
    "en": Agent(name="English", instructions="Speak English."),
    "de": Agent(name="German", instructions="Sprich Deutsch."),
}
team = [Agent(name="One", instructions="One."), Agent(name="Two", instructions="Two.")]

def make_agent(name, instructions):
    return Agent(name=name, instructions=instructions)

poet = make_agent("Poet", "Write poems.")
cook = make_agent("Cook", "Write recipes.")

async def main(text: str):
    a = await Runner.run(AGENTS["en"], text)
    b = await Runner.run(poet, a.final_output)
    c = await Runner.run(cook, b.final_output)
    return c.final_output
`,
  },
  {
    what: "two classes with an attribute and a method of the same name",
    file: "collide.py",
    roles: ["Sales", "Support"],
    text: `from agents import Agent, Runner

class Sales:
    agent = Agent(name="Sales", instructions="Sell.")
    async def run(self, text): 
        return (await Runner.run(self.agent, text)).final_output

class Support:
    agent = Agent(name="Support", instructions="Help.")
    async def run(self, text): 
        return (await Runner.run(self.agent, text)).final_output

async def main(text: str):
    a = await Sales().run(text)
    b = await Support().run(a)
    return b
`,
  },
  {
    what: "fields and static fields of a class",
    file: "fields.ts",
    roles: ["Triage", "Billing"],
    text: `import { Agent, run } from "@openai/agents";

export class Support {
  private readonly triage = new Agent({ name: "Triage", instructions: "Decide what this is about." });
  static billing = new Agent({ name: "Billing", instructions: "Answer about bills.", model: "gpt-4.1" });

  async run(question: string): Promise<string | undefined> {
    const first = await run(this.triage, question);
    const second = await run(Support.billing, first.finalOutput ?? "");
    return second.finalOutput;
  }
}
`,
  },
  {
    what: "fields set in the constructor",
    file: "ctor.ts",
    roles: ["Triage", "Billing"],
    text: `import { Agent, Runner, tool } from "@openai/agents";
import { z } from "zod";

const lookUp = tool({ name: "look_up", description: "Looks up an order", parameters: z.object({ order: z.string() }), execute: async ({ order }) => order });

class Desk {
  private triage: Agent;
  private billing: Agent;
  private runner = new Runner();
  constructor(private tone = "kind") {
    this.billing = new Agent({ name: "Billing", instructions: "Answer about bills.", tools: [lookUp] });
    this.triage = Agent.create({ name: "Triage", instructions: \`Be \${tone}. Hand over.\`, handoffs: [this.billing] });
  }
  async answer(message: string) {
    const result = await this.runner.run(this.triage, message);
    return { answer: result.finalOutput };
  }
}
export default Desk;
`,
  },
  {
    what: "methods, static functions and getters that return agents",
    file: "methods.ts",
    roles: ["Writer", "Editor", "Critic"],
    text: `import { Agent, run } from "@openai/agents";
class Factory {
  writer(): Agent { return new Agent({ name: "Writer", instructions: "Write a draft." }); }
  static editor = () => new Agent({ name: "Editor", instructions: "Correct the draft." });
  get critic() { return new Agent({ name: "Critic", instructions: "Find faults.", handoffs: [this.writer()] }); }
}
export class Manager {
  constructor(private readonly factory: Factory) {}
  async run(topic: string) {
    const draft = await this.draft(topic);
    const final = await run(Factory.editor(), draft);
    return final.finalOutput;
  }
  private async draft(topic: string) {
    const result = await run(this.factory.writer(), \`Topic: \${topic}\`);
    return result.finalOutput!;
  }
}
`,
  },
  {
    what: "a subclass of Agent, and agents in an object",
    file: "subclass.ts",
    roles: ["Support", "Other"],
    text: `import { Agent, run } from "@openai/agents";
class SupportAgent extends Agent {
  constructor() {
    super({ name: "Support", instructions: "Help people.", model: "gpt-4o" });
  }
}
const agents = { support: new SupportAgent(), other: new Agent({ name: "Other", instructions: "Other." }) };
export async function main(question: string) {
  const result = await run(agents.support, question);
  return (await run(agents.other, result.finalOutput)).finalOutput;
}
`,
  },
];

const read = ({ file, text }: Pick<Shape, "file" | "text">) => {
  const { imported, findings } = readImport([{ path: file, text }]);
  if (!imported?.graph) throw new Error(JSON.stringify(findings));
  return { imported, graph: imported.graph, findings };
};

describe("agents in classes", () => {
  test.each(SHAPES)("agents are found in $file: $what", ({ file, text, roles }) => {
    const { imported, graph } = read({ file, text });
    expect(imported.roles.map(({ name }) => name).sort()).toEqual([...roles].sort());
    const names = Object.values(graph.nodes).flatMap(({ node_type, name }) =>
      /_task$/.test(node_type) && name !== "The program" ? [name] : [],
    );
    expect(roles).toEqual(expect.arrayContaining(names));
    expect(names.length).toBeGreaterThan(0);
  });

  test("the result of a parameterized function is resolved for each call", () => {
    const { imported } = read({
      file: "a.py",
      text: `
from agents import Agent, Runner

def make(name, topic="owls"):
    return Agent(name=f"{name} writer", instructions="Write about " + topic)

poet = make("Poem")
cook = make(name="Recipe", topic="soup")

async def main(text):
    a = await Runner.run(poet, text)
    return (await Runner.run(cook, a.final_output)).final_output
`,
    });
    expect(imported.roles.map((role) => [role.name, rolePrompt(role)])).toEqual([
      ["Poem writer", "Write about owls"],
      ["Recipe writer", "Write about soup"],
    ]);
  });

  test("resolving circular classes and functions terminates", () => {
    const text = `
from agents import Agent, Runner
class A(B):
    x = A()
class B(A):
    y = self.x
def f(a=f()):
    return f(a)
x = y
y = x
one = Agent(name="One", instructions="Do.")
async def main(text):
    await Runner.run(x, text)
    await Runner.run(self.y, text)
    await Runner.run(f(f(x)), text)
    return (await Runner.run(one, text)).final_output
`;
    expect(read({ file: "a.py", text }).imported.roles.map(({ name }) => name)).toEqual(["One"]);
  });
});
