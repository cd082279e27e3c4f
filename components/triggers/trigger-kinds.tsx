import { CalendarClock, CornerDownRight, type LucideIcon, SquarePen, Webhook } from "lucide-react";
import type { Answers } from "@/components/trpc";
import { describe } from "@/server/domain/trigger/schedule";
import { TriggerSettings } from "@/server/domain/trigger/trigger";

export type Trigger = Answers["triggers"]["list"][number];

export const TRIGGER_LABELS: Readonly<
  Record<Trigger["kind"], { label: string; hint: string; icon: LucideIcon }>
> = {
  webhook: { label: "Webhook", hint: "Starts when a request arrives", icon: Webhook },
  schedule: { label: "Schedule", hint: "Starts at planned times", icon: CalendarClock },
  form: { label: "Form page", hint: "Starts when someone submits a form", icon: SquarePen },
  workflow: { label: "Workflow ended", hint: "Starts after another workflow", icon: CornerDownRight },
};

/** "Every weekday at 09:00, Europe/Berlin". `workflows`: names by id. */
export function triggerText({ kind, config }: Trigger, workflows?: ReadonlyMap<string, string>): string {
  const read = TriggerSettings.safeParse({ kind, config });
  if (!read.success) return TRIGGER_LABELS[kind].label;
  switch (read.data.kind) {
    case "schedule":
      return describe(read.data.config);
    case "webhook":
      return { none: "Webhook", standard: "Signed webhook", github: "GitHub webhook" }[
        read.data.config.signature
      ];
    case "form":
      return read.data.config.title ?? "Form page";
    case "workflow": {
      const name = workflows?.get(read.data.config.workflow_id) ?? "another workflow";
      return `After ${name} ${read.data.config.on.join(" or ")}`;
    }
  }
}

/** "Off", or why it was disabled automatically; null if it is on. */
export const triggerProblem = ({ enabled, disabled_reason }: Trigger): string | null =>
  disabled_reason ?? (enabled ? null : "Off");
