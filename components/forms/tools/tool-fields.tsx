"use client";

import { useQuery } from "@tanstack/react-query";
import { useLibraryAgents } from "@/components/forms/fields/agent-choice";
import { useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Field } from "@/components/ui/input/field";
import { Select } from "@/components/ui/input/select";
import { isList, textsOf } from "@/server/domain/base/guards";
import { isAgentNode } from "@/server/domain/nodes";
import { isGranted } from "@/server/domain/tool/tool";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";

/** Picks an installed tool by name. */
export function ToolField({ label, hint, error, value, onChange, hideLabel }: FieldProps) {
  const { data } = useQuery(useTrpc().tools.names.queryOptions());
  const name = typeof value === "string" ? value : "";
  const known = (data?.tools ?? []).map((tool) => ({
    value: tool.name,
    label: tool.name,
    hint: tool.is_unavailable ? "Not available. See the Tools page." : firstSentence(tool.description),
  }));
  const isMissing = name !== "" && data !== undefined && !known.some((option) => option.value === name);
  return (
    <Select
      {...{ label, hideLabel, hint, error }}
      options={isMissing ? [...known, { value: name, label: name, hint: "Tool not found" }] : known}
      value={name || null}
      onValueChange={onChange}
      placeholder="Choose a tool…"
    />
  );
}

const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;

/** Which tools of its role a task may use; all of them if undefined. */
export function ToolsField({ label, hint, error, value, onChange }: FieldProps) {
  const { node, roles } = useFormScope();
  const library = useLibraryAgents();
  const config = isAgentNode(node) ? node.config : undefined;
  const agent = library.find(({ id }) => id === config?.agent_ref)?.agent ?? config?.agent;
  const roleName = config?.agent_ref ? agent?.role_name : config?.required_role;
  const theirs = roles.find(({ name }) => name === roleName)?.tools ?? [];
  const chosen = isList(value) ? textsOf(value) : undefined;
  const beyond = (chosen ?? []).filter((tool) => !theirs.includes(tool));
  return (
    <Field label={label} hint={hint} error={error} group>
      <div className="flex flex-col gap-2">
        <Checkbox
          label={theirs.length > 0 ? "All tools of role" : "Role has no tools"}
          disabled={theirs.length === 0 && chosen === undefined}
          checked={chosen === undefined}
          onCheckedChange={(all) => onChange(all ? undefined : theirs)}
        />
        {chosen === undefined ? null : (
          <ul aria-label="Tools of this task" className="flex flex-col gap-2 border-t border-line pt-2">
            {[...theirs, ...beyond].map((tool) => (
              <li key={tool} className="flex items-center gap-2">
                <Checkbox
                  label={tool}
                  checked={chosen.includes(tool)}
                  onCheckedChange={(on) =>
                    onChange(
                      [...theirs, ...beyond].filter((other) =>
                        other === tool ? on : chosen.includes(other),
                      ),
                    )
                  }
                />
                {isGranted(theirs, tool) ? null : <Badge tone="waiting">Not in role</Badge>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Field>
  );
}
