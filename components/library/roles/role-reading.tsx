import type { ReactNode } from "react";
import { describeGuardrail } from "@/components/forms/fields/guardrail-rows";
import type { RoleDefinition } from "@/server/domain/agent/role";

/** A role to read, where it cannot be changed. */
export function RoleReading({ role }: { role: RoleDefinition }) {
  return (
    <dl className="flex min-w-0 flex-col gap-5 text-sm">
      <Part title="Description">{role.description || "None"}</Part>
      <Lines title="Goals" items={role.goals} />
      <Lines title="Responsibilities" items={role.responsibilities} />
      <Lines title="Tools" items={role.tools} mono />
      <Lines
        title="Guardrails"
        items={role.guardrails.map((rule) => `${rule.name}. ${describeGuardrail(rule)}`)}
      />
    </dl>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt className="mb-1 text-[13px] font-medium">{title}</dt>
      <dd className="text-ink-2 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function Lines({ title, items, mono }: { title: string; items: readonly string[]; mono?: boolean }) {
  return (
    <Part title={title}>
      {items.length === 0 ? (
        "None"
      ) : (
        <ul
          className={
            mono ? "flex flex-col gap-1 font-mono text-[13px]" : "flex list-disc flex-col gap-1 pl-5"
          }
        >
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      )}
    </Part>
  );
}
