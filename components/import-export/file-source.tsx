"use client";

import { FileUp } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { TextArea } from "@/components/ui/text-area";

/** Where an import's text comes from: a chosen file, or pasted text. Dropping works anywhere on the page. */
export function FileSource({
  accept,
  pasteLabel,
  placeholder,
  error,
  pending,
  onText,
}: {
  accept: string;
  pasteLabel: string;
  placeholder: string;
  /** Why the last text could not be read. */
  error?: string | undefined;
  pending: boolean;
  onText: (text: string) => void;
}) {
  const [pasted, setPasted] = useState("");
  return (
    <div className="flex flex-col gap-4">
      {error ? (
        <p role="alert" className="text-[13px] text-failed">
          {error}
        </p>
      ) : null}
      <label className="flex cursor-pointer flex-col items-center gap-2 rounded-xl border border-dashed border-line-strong bg-bg px-6 py-8 text-center hover:border-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-focus">
        <FileUp aria-hidden="true" className="size-6 text-ink-3" strokeWidth={1.5} />
        <span className="font-medium">Choose a file</span>
        <span className="text-[13px] text-ink-3">or drop it anywhere on the page</span>
        <input
          type="file"
          accept={accept}
          className="sr-only"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void file.text().then(onText);
          }}
        />
      </label>
      <TextArea
        label={pasteLabel}
        mono
        rows={5}
        value={pasted}
        onValueChange={setPasted}
        placeholder={placeholder}
        spellCheck={false}
      />
      <div className="flex justify-end">
        <Button
          variant="primary"
          disabled={pasted.trim() === ""}
          pending={pending}
          onClick={() => onText(pasted)}
        >
          Show what is in it
        </Button>
      </div>
    </div>
  );
}
