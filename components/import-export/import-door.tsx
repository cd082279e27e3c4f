"use client";

import { FileDown } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef, useState } from "react";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { droppedFiles, FileError, type SentFile } from "./sent-files";

/** Accepts files, folders and archives dropped anywhere on the page, with a hint while they hover. */
function DropZone({ what, onFiles }: { what: string; onFiles: (files: SentFile[]) => void }) {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  }, [onFiles]);
  useEffect(() => {
    // dragenter and dragleave fire for every element; the depth tells whether the drag left the page.
    let depth = 0;
    const hasFiles = (event: DragEvent) => !!event.dataTransfer?.types.includes("Files");
    const onEnter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const onOver = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (event.dataTransfer)
        droppedFiles(event.dataTransfer).then(
          (files) => latest.current(files),
          (error: unknown) =>
            toast(
              error instanceof FileError
                ? error.message
                : "Couldn't read this file. Choose it again, or try another file.",
              { tone: "error" },
            ),
        );
    };
    window.addEventListener("dragenter", onEnter);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("dragover", onOver);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragenter", onEnter);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("drop", onDrop);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-40 flex items-center justify-center bg-bg/80 p-6">
      <div className="flex items-center gap-3 rounded-xl border-2 border-dashed border-accent bg-raised px-6 py-5 text-base font-medium shadow-2">
        <FileDown aria-hidden="true" className="size-5 text-accent" />
        {`Drop to import ${what}`}
      </div>
    </div>
  );
}

const ImportDialog = dynamic(() => import("./import-dialog").then((m) => m.ImportDialog), { ssr: false });

/** The state of the import dialog, shared by a page's button and its ImportDoor. */
export function useImporting() {
  const [state, setState] = useState<{ files?: SentFile[]; nth: number } | null>(null);
  const open = (files?: SentFile[]) =>
    setState((before) => ({ nth: (before?.nth ?? 0) + 1, ...defined({ files }) }));
  return { state, open, close: () => setState(null) };
}

/** Accepts dropped files, and renders the import dialog. */
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
          title={title}
          placeholder={placeholder}
        />
      ) : null}
    </>
  );
}
