import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { SchemaField } from "./schema-field";

function show(schema: JsonSchema | undefined) {
  let now: unknown = schema;
  function Held() {
    const [value, setValue] = useState<unknown>(schema);
    now = value;
    return <SchemaField label="Output" itemName="field" value={value} onChange={setValue} />;
  }
  render(<Held />);
  return { person: userEvent.setup(), now: () => now };
}

test("a schema with title, default and enum is shown as rows that keep other keywords", async () => {
  const schema = {
    type: "object",
    title: "Verdict",
    additionalProperties: false,
    properties: { verdict: { type: "string", enum: ["keep", "drop"], default: "keep" } },
  };
  const { person, now } = show(schema);
  const choices = screen.getByLabelText<HTMLTextAreaElement>("Options for verdict");
  expect(choices.value).toBe("keep\ndrop");
  screen.getByText("Also in the JSON: title, additionalProperties. Editing rows doesn't change this.");

  await person.type(choices, "{Enter}wait and see");
  expect(now()).toEqual({
    ...schema,
    properties: { verdict: { ...schema.properties.verdict, enum: ["keep", "drop", "wait and see"] } },
  });
  await person.clear(choices);
  screen.getByText("Enter at least one option.");
  expect(now()).toMatchObject({ title: "Verdict", properties: { verdict: { default: "keep" } } });
});

test("a field is added, named and described", async () => {
  const { person, now } = show(undefined);
  await person.click(screen.getByRole("button", { name: "Add field" }));
  // The name of a new field is focused and selected: whatever is typed next becomes the name.
  await person.keyboard("sum");
  await person.type(screen.getByLabelText("Description of sum"), "All of it");
  expect(now()).toEqual({
    type: "object",
    properties: { sum: { type: "string", description: "All of it" } },
  });
});

test("a schema that rows can't represent is shown as JSON with the reason", () => {
  show({ type: "array", items: { type: "string" } });
  screen.getByText(/it doesn't describe an object/);
  expect(screen.queryByRole("button", { name: "Add field" })).toBeNull();
  expect(screen.queryByRole("button", { name: "Show as rows" })).toBeNull();
});
