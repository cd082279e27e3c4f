import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { asSchema, describeType } from "./schema-words";

/** How one argument is entered. `json`: whatever has no simpler way. */
export type ArgumentLook = "text" | "choice" | "number" | "whole" | "yes_no" | "json";

export interface ArgumentField {
  name: string;
  look: ArgumentLook;
  required: boolean;
  hint: string;
  choices: string[];
}

/** What a person has entered so far, by argument; texts stay texts until they are sent. */
export type Entered = Readonly<Record<string, string | boolean>>;

export function argumentFields(schema: JsonSchema): ArgumentField[] {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asSchema(schema.properties) ?? {}).map(([name, inner]) => {
    const field = asSchema(inner) ?? {};
    const choices = Array.isArray(field.enum)
      ? field.enum.filter((word): word is string => typeof word === "string")
      : [];
    const look: ArgumentLook =
      choices.length > 0
        ? "choice"
        : field.type === "string"
          ? "text"
          : field.type === "boolean"
            ? "yes_no"
            : field.type === "integer"
              ? "whole"
              : field.type === "number"
                ? "number"
                : "json";
    return {
      name,
      look,
      // What has a standard value need not be entered, whatever the schema says.
      required: required.includes(name) && field.default === undefined,
      hint: [
        typeof field.description === "string" ? field.description : "",
        look === "json" ? describeType(field) : "",
      ]
        .filter(Boolean)
        .join(". "),
      choices,
    };
  });
}

/** The arguments as they are sent, or what is wrong with each. What is left empty is left out. */
export function readArguments(
  fields: readonly ArgumentField[],
  entered: Entered,
): { ok: true; args: JsonObject } | { ok: false; faults: Record<string, string> } {
  const args: JsonObject = {};
  const faults: Record<string, string> = {};
  for (const { name, look, required } of fields) {
    const value = entered[name];
    if (value === undefined || value === "") {
      if (required) faults[name] = "This is needed.";
      continue;
    }
    if (typeof value === "boolean") args[name] = value;
    else if (look === "number" || look === "whole") {
      const number = Number(value);
      if (!Number.isFinite(number)) faults[name] = "Enter a number.";
      else if (look === "whole" && !Number.isInteger(number)) faults[name] = "Enter a whole number.";
      else args[name] = number;
    } else if (look === "json") {
      const read = readJson(value);
      if (read === undefined) faults[name] = "This is not JSON yet.";
      else args[name] = read;
    } else args[name] = value;
  }
  return Object.keys(faults).length > 0 ? { ok: false, faults } : { ok: true, args };
}

/** The value that a text is as JSON; undefined where it is none. */
export function readJson(text: string): Json | undefined {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
