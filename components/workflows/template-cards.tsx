"use client";

import clsx from "clsx";
import { Play } from "lucide-react";
import { SketchPicture } from "@/components/display/sketch-picture";
import type { WorkflowActions } from "@/components/import-export/workflow-actions";
import type { Answers } from "@/components/trpc";
import { Button } from "@/components/ui/button";

type Template = Answers["workflows"]["templates"][number];

/** Templates to start from, the first one as the main card. */
export function TemplateCards({
  templates,
  actions,
}: {
  templates: readonly Template[];
  actions: WorkflowActions;
}) {
  return (
    <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      {templates.map((template, at) => {
        const featured = at === 0;
        return (
          <li
            key={template.key}
            className={clsx(
              "flex flex-col overflow-hidden rounded-xl border border-line bg-surface",
              featured && "sm:col-span-2 lg:col-span-4 lg:flex-row",
            )}
          >
            <SketchPicture
              sketch={template.sketch}
              className={clsx(
                "w-full border-b border-line",
                featured ? "h-48 lg:h-72 lg:flex-1 lg:border-r lg:border-b-0" : "h-32",
              )}
            />
            <div
              className={clsx(
                "flex flex-1 flex-col gap-1 p-4",
                featured && "lg:max-w-84 lg:justify-center lg:p-8",
              )}
            >
              <h2 className={featured ? "font-serif text-[28px] leading-9" : "text-[15px] font-semibold"}>
                {template.title}
              </h2>
              <p className="text-sm text-ink-2">{template.description}</p>
              {featured ? (
                <p className="mt-2 text-[13px] text-ink-3">
                  {template.node_count} nodes. Runs on the offline demo. No API key needed.
                </p>
              ) : null}
              <div className={clsx("mt-auto flex gap-2 pt-3", featured && "lg:mt-0 lg:pt-4")}>
                {featured ? (
                  <Button
                    variant="primary"
                    icon={<Play aria-hidden />}
                    aria-label={`Run the template ${template.title}`}
                    disabled={actions.opening !== null}
                    onClick={() => actions.runTemplate(template.key)}
                  >
                    Run
                  </Button>
                ) : null}
                <Button
                  size={featured ? "md" : "sm"}
                  aria-label={`Open the template ${template.title}`}
                  pending={actions.opening === template.key}
                  disabled={actions.opening !== null}
                  onClick={() => actions.fromTemplate(template.key)}
                >
                  Open
                </Button>
              </div>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
