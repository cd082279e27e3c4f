"use client";

import { CopyButton } from "@/components/ui/json-view";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { readPrompt } from "./role-draft";

/** What every agent of this role is told first; follows the form as it is filled in. */
export function PromptPreview({ role }: { role: RoleDefinition }) {
  const { prompt, fault } = readPrompt(role);
  return (
    <section aria-labelledby="prompt-preview" className="flex min-h-0 flex-col gap-2">
      <header className="flex items-center gap-2">
        <h3 id="prompt-preview" className="flex-1 text-[13px] font-medium">
          Prompt
        </h3>
        {prompt === null ? null : (
          <>
            <span className="text-xs text-ink-3 tabular-nums">
              about {Math.ceil(prompt.length / 4)} tokens
            </span>
            <CopyButton text={prompt} label="Copy the prompt" />
          </>
        )}
      </header>
      {prompt === null ? (
        <p className="text-[13px] text-failed">{fault}</p>
      ) : (
        <section
          tabIndex={0}
          aria-label="Prompt text"
          className="min-h-40 overflow-y-auto rounded-lg border border-line bg-sunken p-4 font-mono text-xs leading-5 whitespace-pre-wrap"
        >
          {prompt}
        </section>
      )}
      <p className="text-[13px] text-ink-3">Follows the form. The task of the node comes after it.</p>
    </section>
  );
}
