import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { SchemaField } from "./schema-field";

const drawn = (schema: JsonSchema) =>
  renderToStaticMarkup(<SchemaField label="Output" itemName="field" value={schema} onChange={() => {}} />);

test("a schema with a title, a default and a choice is shown as rows, with what can be chosen", () => {
  const html = drawn({
    type: "object",
    title: "Verdict",
    additionalProperties: false,
    properties: { verdict: { type: "string", enum: ["keep", "drop"], default: "keep" } },
  });
  for (const part of [
    "Name of value 1",
    "Type of verdict",
    "Choices of verdict",
    "keep\ndrop",
    "Add a field",
  ])
    expect(html).toContain(part);
  expect(html).toContain("The JSON also says title, additionalProperties; the rows keep it.");
});

test("a schema that rows cannot show is JSON, with the reason beside it", () => {
  const html = drawn({ type: "array", items: { type: "string" } });
  expect(html).toContain("it describes something else than an object");
  expect(html).not.toContain("Add a field");
});
