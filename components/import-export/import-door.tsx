"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { defined } from "@/server/domain/base/defined";
import { DropZone } from "./drop-zone";
import type { SentFile } from "./sent-files";

const ImportDialog = dynamic(() => import("./import-dialog").then((m) => m.ImportDialog), { ssr: false });

/** Whether files are being imported, and which: for a page's button and its ImportDoor. */
export function useImporting() {
  const [state, setState] = useState<{ files?: SentFile[]; nth: number } | null>(null);
  const open = (files?: SentFile[]) =>
    setState((before) => ({ nth: (before?.nth ?? 0) + 1, ...defined({ files }) }));
  return { state, open, close: () => setState(null) };
}

/** Takes what is dropped anywhere on a page, and shows the dialog of imports. */
export function ImportDoor({
  importing: { state, open, close },
  what,
  title,
  placeholder,
}: {
  importing: ReturnType<typeof useImporting>;
  /** As in "Drop to import …". */
  what: string;
  title?: string;
  placeholder?: string;
}) {
  return (
    <>
      <DropZone what={what} onFiles={open} />
      {state ? (
        <ImportDialog
          key={state.nth}
          files={state.files}
          onClose={close}
          {...(title ? { title } : {})}
          {...(placeholder ? { placeholder } : {})}
        />
      ) : null}
    </>
  );
}
