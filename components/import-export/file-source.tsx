"use client";

import { FileUp } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { TextArea } from "@/components/ui/input/text-area";
import { chosenFiles, FileError, pastedFile, type SentFile } from "./sent-files";

/** Takes files, a folder or pasted text. Dropping files works anywhere on the page. */
export function FileSource({
  placeholder,
  error,
  pending,
  onFiles,
}: {
  placeholder: string;
  /** Why the last files could not be read. */
  error?: string | undefined;
  pending: boolean;
  onFiles: (files: SentFile[]) => void;
}) {
  const [pasted, setPasted] = useState("");
  const [unread, setUnread] = useState<string>();
  const take = (list: FileList) => {
    setUnread(undefined);
    chosenFiles(list).then(onFiles, (error: unknown) =>
      setUnread(
        error instanceof FileError
          ? error.message
          : "Couldn't read this file. Choose it again, or try another file.",
      ),
    );
  };
  const fileInput: ComponentProps<"input"> = {
    type: "file",
    multiple: true,
    className: "sr-only",
    onChange: ({ target: { files } }) => {
      if (files && files.length > 0) take(files);
    },
    // Clear the input before a choice: clearing it afterwards would empty the list, too.
    onClick: ({ currentTarget }) => {
      currentTarget.value = "";
    },
  };
  const problem = unread ?? error;
  return (
    <div className="flex flex-col gap-4">
      <ErrorText error={problem} />
      <div className="flex flex-col items-center gap-1 rounded-xl border border-dashed border-line-strong bg-bg px-6 py-6 text-center">
        <label className="flex cursor-pointer flex-col items-center gap-2 rounded-lg px-4 py-2 hover:bg-ink/3 has-focus-visible:outline-2 has-focus-visible:outline-focus">
          <FileUp aria-hidden="true" className="size-6 text-ink-3" strokeWidth={1.5} />
          <span className="font-medium">Choose a file</span>
          <input {...fileInput} />
        </label>
        <span className="text-[13px] text-ink-3">
          or several files, a zip or{" "}
          <label className="cursor-pointer rounded-sm underline underline-offset-2 hover:text-ink has-focus-visible:outline-2 has-focus-visible:outline-focus">
            a folder
            <input {...fileInput} ref={(field) => field?.setAttribute("webkitdirectory", "")} />
          </label>
          . You can also drag and drop.
        </span>
      </div>
      <TextArea
        label="Or paste contents"
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
          onClick={() => onFiles(pastedFile(pasted))}
        >
          Preview
        </Button>
      </div>
    </div>
  );
}
