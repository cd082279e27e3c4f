"use client";

import { closeShellDialog, type HelpSection, useAllHelp } from "@/components/page/page-commands";
import { Kbd } from "@/components/ui/kbd";
import { Dialog } from "@/components/ui/overlay/dialog";

const everywhere: HelpSection = {
  title: "Everywhere",
  shortcuts: [
    { keys: "mod+k", label: "Open command palette" },
    { keys: "?", label: "Show keyboard shortcuts" },
    { keys: "Esc", label: "Close dialog or panel" },
  ],
};

/** The keyboard shortcuts of this page. */
export function KeyboardHelp() {
  const sections = [everywhere, ...Object.values(useAllHelp())];
  return (
    <Dialog
      open
      onOpenChange={closeShellDialog}
      title="Keyboard shortcuts"
      size={sections.length > 2 ? "lg" : "md"}
    >
      <div className={sections.length > 2 ? "gap-8 sm:columns-2" : ""}>
        {sections.map((section) => (
          <section key={section.title} className="mb-6 break-inside-avoid last:mb-0">
            <h3 className="mb-1 text-xs font-semibold text-ink-2">{section.title}</h3>
            <dl>
              {section.shortcuts.map(({ keys, label }) => (
                <div
                  key={keys + label}
                  className="flex items-center gap-4 border-b border-line py-2 last:border-0"
                >
                  <dt className="min-w-0 flex-1 text-sm">{label}</dt>
                  <dd className="flex gap-2">
                    {keys.split(" ").map((combination) => (
                      <Kbd key={combination} keys={combination} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
