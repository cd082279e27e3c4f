"use client";

import { useLibraryAgents } from "@/components/forms/fields/agent-choice";
import { Badge } from "@/components/ui/badge";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Field } from "@/components/ui/input/field";
import { isList, textsOf } from "@/server/domain/base/guards";
import { isAgentNode } from "@/server/domain/nodes";
import { isGranted } from "@/server/domain/tool/tool";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";

/** Which of its role's tools a task may use; absent: all of them. */
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
          label={theirs.length > 0 ? "All that its role may use" : "Its role may use no tools"}
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
                {isGranted(theirs, tool) ? null : <Badge tone="waiting">Not in its role</Badge>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Field>
  );
}
