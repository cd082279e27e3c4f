import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { questionFields, termsOf, timeoutDiagnostics } from "./asking/question-terms";
import { defineNode, type Misfit, type NodeDiagnostic, NodeFailure, type SchemaParts } from "./define";

const InputConfig = ({ z, JsonSchema, QuestionTerms, Template }: SchemaParts) =>
  z.object({
    title: Template.default(""),
    body_template: Template.optional(),
    /** What is asked for: an object, whose properties are the fields of the form. */
    schema: JsonSchema.optional(),
    ...QuestionTerms.shape,
  });
type Config = z.output<ReturnType<typeof InputConfig>>;

/** A person fills in a form, and the run goes on with what they entered. */
export const userInput = defineNode({
  type: "user_input",
  title: "Form",
  hint: "Asks a person to fill in a form",
  icon: "text-cursor-input",
  group: "people",
  config: InputConfig,
  fields: [
    { key: "title", label: "Question", as: "template", lines: 1, hint: "What to ask" },
    {
      key: "body_template",
      label: "Details",
      as: "template",
      hint: "Shown above the form, as Markdown",
    },
    { key: "schema", label: "Fields", as: "schema", hint: "Form fields" },
    ...questionFields("json"),
  ],
  summary: (config) => {
    const fields = fieldsOf(config.schema);
    return fields.length === 0 ? "No fields yet" : `Asks for ${fields.join(", ")}`;
  },
  writes: (config, node) => (node.output_keys.length > 0 ? node.output_keys : fieldsOf(config.schema)),
  newConfig: () => ({
    title: "Fill in this form",
    schema: {
      type: "object",
      properties: { answer: { type: "string", title: "Answer" } },
      required: ["answer"],
    },
  }),
  newNode: () => ({ name: "Form", output_keys: ["answer"] }),
  validate: (config, _node, misfit) => [
    ...schemaDiagnostics(config.schema),
    ...timeoutDiagnostics(config, timeoutError(config, misfit)),
    ...(config.mode === "advisory" && !isObject(config.default_response)
      ? [diagnostic("E_FORM_MEANWHILE", "This form doesn't wait. Set a default answer.", "default_response")]
      : []),
  ],
  templates: ({ title, body_template }) => [
    ...(title ? [{ field: "title", template: title }] : []),
    ...(body_template ? [{ field: "body_template", template: body_template }] : []),
  ],
  *run(config, ctx) {
    const { title, body_template, schema = {} } = config;
    const name = ctx.node.name || ctx.node.id;
    const { answer, value, message } = yield* ctx.askPerson("form", {
      kind: "input",
      title: (title ? ctx.render(title) : "") || `Fill in “${name}”`,
      why: "The workflow continues with your input.",
      ...defined({ body: body_template ? ctx.render(body_template) : undefined }),
      response_schema: schema,
      ...termsOf(config),
    });
    if (answer === "given" && isObject(value)) return { output: formOutputs(value, ctx.node.output_keys) };
    if (answer === "expired" || answer === "pending") {
      const form = formWithoutAnswer(config, answer);
      if (form) return { output: formOutputs(form, ctx.node.output_keys) };
      throw new NodeFailure("HUMAN_TIMEOUT", `“${name}” wasn't filled in before the deadline.`, {
        user_action: "retry",
      });
    }
    throw new NodeFailure(
      "HUMAN_REJECTED",
      `A person declined to fill in “${name}”${message ? `: ${message}` : "."}`,
      { user_action: "retry" },
    );
  },
});

const fieldsOf = (schema: JsonSchema | undefined): string[] =>
  isObject(schema?.properties) ? Object.keys(schema.properties) : [];

const diagnostic = (code: string, message: string, field: string): NodeDiagnostic => ({
  severity: "error",
  code,
  message,
  field,
});

function schemaDiagnostics(schema: JsonSchema | undefined): NodeDiagnostic[] {
  if (fieldsOf(schema).length === 0)
    return [diagnostic("E_FORM_NO_FIELDS", "Add at least one field.", "schema")];
  if (schema?.type !== undefined && schema.type !== "object")
    return [diagnostic("E_FORM_SCHEMA", "The form schema must be an object with properties.", "schema")];
  const file = fieldsOf(schema).find((key) => asksForFile(schema?.properties, key));
  if (file !== undefined)
    return [
      diagnostic(
        "E_FORM_FILE",
        `Field “${file}” asks for a file, which forms don't support yet. Ask for text or a link.`,
        "schema",
      ),
    ];
  return [];
}

const FILE_FORMATS: readonly unknown[] = ["binary", "byte", "file", "data-url"];

/** Whether a field asks for a file, in any of the ways that schemas have for it. */
function asksForFile(properties: unknown, key: string): boolean {
  const field = isObject(properties) ? properties[key] : undefined;
  if (!isObject(field)) return false;
  const each = isObject(field.items) ? field.items : field;
  return (
    FILE_FORMATS.includes(each.format) ||
    each.contentMediaType !== undefined ||
    each.contentEncoding !== undefined
  );
}

/** The values without an answer; null if the node fails. */
function formWithoutAnswer(
  { on_timeout, default_response }: Config,
  answer: "expired" | "pending",
): JsonObject | null {
  if ((answer === "pending" || on_timeout === "default") && isObject(default_response))
    return default_response;
  return on_timeout === "continue" ? {} : null;
}

/** Why the setting for a missing answer can't work, or null. */
function timeoutError({ on_timeout, default_response, schema }: Config, misfit: Misfit): string | null {
  if (on_timeout === "approve") return "Forms can't be approved. Use a default answer, or let the node fail.";
  if (on_timeout !== "default") return null;
  if (!isObject(default_response))
    return "Enter the default answer as an object with a value for each field.";
  const wrong = misfit({ type: "object", ...schema }, default_response);
  return wrong === null ? null : `The default answer doesn't match the fields: ${wrong}.`;
}

/** A value per key: the field of its name, a single key of another name gets the only field, or the whole form. */
function formOutputs(form: JsonObject, keys: readonly string[]): JsonObject {
  if (keys.length === 0) return form;
  const [only] = keys;
  const values = Object.values(form);
  if (keys.length === 1 && only !== undefined && !Object.hasOwn(form, only))
    return { [only]: values.length < 2 ? (values[0] ?? null) : form };
  return Object.fromEntries(keys.map((key) => [key, form[key] ?? null]));
}
