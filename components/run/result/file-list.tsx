"use client";

import { Download, FileJson2, FileText } from "lucide-react";
import { formatBytes } from "@/components/display/format";
import type { RunEventOf } from "@/server/domain/run/events";
import { useRunPage } from "../run-page-context";

/** A file of a run's workspace, as its event tells of it. */
export type FileEvent = RunEventOf<"artifact_created">["payload"];

/** Files of a run, to open and download. */
export function FileList({
  title,
  files,
  onPath,
}: {
  title: string;
  files: readonly FileEvent[];
  onPath: (path: string) => void;
}) {
  const page = useRunPage();
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      <ul className="flex flex-col divide-y divide-line overflow-hidden rounded-lg border border-line">
        {[...files]
          .sort((a, b) => a.path.localeCompare(b.path))
          .map((file) => (
            <li key={file.path} className="flex items-center gap-1 pr-1.5 hover:bg-ink/4">
              <button
                type="button"
                onClick={() => onPath(file.path)}
                className="flex min-h-10 min-w-0 flex-1 items-center gap-2.5 px-3 text-left text-[13px]"
              >
                {file.path.endsWith(".json") ? (
                  <FileJson2 aria-hidden className="size-4 shrink-0 text-ink-3" />
                ) : (
                  <FileText aria-hidden className="size-4 shrink-0 text-ink-3" />
                )}
                <span className="min-w-0 flex-1 truncate">{file.path}</span>
                <span className="shrink-0 text-xs text-ink-3 tabular-nums">
                  {file.version > 1 ? `version ${file.version} · ` : ""}
                  {formatBytes(file.size)}
                </span>
              </button>
              {page ? (
                <a
                  href={addressOf(page.runId, file)}
                  download
                  aria-label={`Download ${file.path}`}
                  title="Download"
                  className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
                >
                  <Download aria-hidden className="size-4" />
                </a>
              ) : null}
            </li>
          ))}
      </ul>
    </section>
  );
}

/** Where a version of a file is downloaded from. */
export const addressOf = (runId: string, file: { path: string; version: number }) =>
  `/api/runs/${encodeURIComponent(runId)}/files/${file.path.split("/").map(encodeURIComponent).join("/")}?version=${file.version}`;
