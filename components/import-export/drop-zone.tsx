"use client";

import { FileDown } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { toast } from "@/components/ui/toasts";
import { droppedFiles, FileError, type SentFile } from "./sent-files";

/** Takes files, folders and archives that are dropped anywhere on the page, and says so while they hover. */
export function DropZone({ what, onFiles }: { what: string; onFiles: (files: SentFile[]) => void }) {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  }, [onFiles]);
  useEffect(() => {
    // dragenter and dragleave come for every element on the way; the depth says whether it really left.
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
            toast(error instanceof FileError ? error.message : "This could not be read.", { tone: "error" }),
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
