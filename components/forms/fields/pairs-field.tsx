"use client";

import { splitAtSecrets } from "@/server/domain/tool/secret";
import type { FieldProps } from "../field-props";
import { NamedRows } from "./named-rows";
import { SecretMenu } from "./secret-menu";
import { TemplateField } from "./template-field";

/** Names with template texts, such as the headers of a request. */
export function PairsField(props: FieldProps<Record<string, string>>) {
  return (
    <NamedRows
      {...props}
      nameLabel="Name"
      itemName="row"
      newName="name"
      checkName={nameError}
      valueField={({ name, value, onChange }) => (
        <div className="flex items-start gap-1">
          <div className="min-w-0 flex-1">
            <TemplateField
              label={`Value of ${name}`}
              hideLabel
              minLines={1}
              value={value}
              onChange={(text) => onChange(typeof text === "string" ? text : "")}
            />
          </div>
          <SecretMenu
            label={`Secret for ${name}`}
            onChoose={(reference) => onChange(withReference(name, value, reference))}
          />
        </div>
      )}
    />
  );
}

/** An empty Authorization header gets its usual scheme; the text around another secret is kept. */
function withReference(name: string, value: string, reference: string): string {
  if (/^authorization$/i.test(name) && value === "") return `Bearer ${reference}`;
  const { between, found } = splitAtSecrets(value);
  return found.length > 0 ? between.join(reference) : value + reference;
}

function nameError(name: string, names: readonly string[], at: number): string | null {
  if (name.trim() !== name || name === "") return "Enter a name without leading or trailing spaces.";
  if (name.length > 200) return "Use at most 200 characters.";
  return names.some((other, i) => i !== at && other === name) ? "This name is already in use." : null;
}
