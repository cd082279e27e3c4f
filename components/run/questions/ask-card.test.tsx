import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import type { JsonObject } from "@/server/domain/base/values";
import type { Interaction } from "@/server/domain/run";
import { draw } from "@/server/domain/testing/drawing";
import { AskCard } from "./ask-card";

/** A run that stands at a node which asks a person, and the card of its question. */
async function asking(node: JsonObject) {
  const shown: { ask?: Interaction | undefined; runId: string } = { runId: "" };
  const page = openPage(<Card shown={shown} />);
  const { id } = await page.ask.workflows.create({
    name: "Letters",
    graph: draw("start > ask; ask approved> good; ask rejected> bad; ask > end", {
      ask: { id: "ask", ...node },
      good: { node_type: "end" },
      bad: { node_type: "end" },
    }),
  });
  shown.runId = (await page.ask.runs.start({ workflow_id: id })).run_id;
  const state = () => page.troupe.runs.state(shown.runId);
  await waitFor(() => expect(Object.values(state()?.interactions ?? {})).toHaveLength(1));
  shown.ask = Object.values(state()?.interactions ?? {})[0];
  page.show();
  const answered = async () => {
    await page.troupe.host.settled(shown.runId);
    return state()?.interactions[shown.ask?.id ?? ""]?.answered;
  };
  return { ...page, answered };
}

function Card({ shown: { ask, runId } }: { shown: { ask?: Interaction | undefined; runId: string } }) {
  return ask ? <AskCard ask={ask} runId={runId} standing={{ status: "open", isOver: false }} /> : null;
}

const gate = {
  node_type: "approval_gate",
  output_keys: ["letter"],
  config: {
    title: "Send it?",
    body_template: "# To Ann",
    allow_edit: true,
    assigned_to: "the lead",
    urgency: "high",
  },
};

test("an approval gate shows its context and assignee, and accepts an edited draft with a comment", async () => {
  const { person, answered } = await asking(gate);
  screen.getByRole("region", { name: "Question: Send it?" });
  screen.getByText("Assigned to the lead");
  screen.getByText("High");
  screen.getByText(/No answer within 7 days means “rejected”/);
  const draft = screen.getByLabelText("Draft");
  await person.clear(draft);
  await person.type(draft, "Dear Ann");
  await person.type(screen.getByLabelText("Comment"), "better");
  await person.click(screen.getByRole("button", { name: "approved" }));
  expect(await answered()).toMatchObject({
    answer: "chosen",
    option: "approved",
    value: "Dear Ann",
    message: "better",
  });
});

test("Enter does not approve", async () => {
  const { person, troupe } = await asking(gate);
  screen.getByRole("button", { name: "approved" }).focus();
  await person.keyboard("{Enter}");
  expect(troupe.runs.list({}).map(({ status }) => status)).toEqual(["waiting"]);
});

test("a form reports invalid values and submits once they are valid", async () => {
  const { person, answered } = await asking({
    node_type: "user_input",
    output_keys: ["name"],
    config: {
      title: "Who is it for?",
      schema: {
        type: "object",
        properties: { name: { type: "string", title: "Name", minLength: 3 }, loud: { type: "boolean" } },
        required: ["name"],
      },
    },
  });
  await person.click(screen.getByRole("button", { name: "Send" }));
  await screen.findByText("Required.");
  await person.type(screen.getByRole("textbox", { name: "Name" }), "Anna");
  await person.click(screen.getByRole("button", { name: "Send" }));
  expect(await answered()).toMatchObject({ answer: "given", value: { name: "Anna" } });
});
