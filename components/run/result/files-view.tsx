"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { ArrowLeft, Download, Files } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { formatBytes } from "@/components/display/format";
import { toApiError, useTrpcClient } from "@/components/trpc";
import { Button, buttonClass } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { JsonView } from "@/components/ui/json-view";
import { Spinner } from "@/components/ui/spinner";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { addressOf, type FileEvent, FileList } from "./file-list";

const Markdown = dynamic(() => import("@/components/display/markdown").then((module) => module.Markdown), {
  loading: () => <Spinner size={16} label="Loading" />,
});

/** The files of the run's workspace at the cursor: a list, or the open file. */
export function FilesView({ path, onPath }: { path: string | null; onPath: (path: string | null) => void }) {
  const files = useRunList<FileEvent>(({ state }) => Object.values(state.files));
  const open = files.find((file) => file.path === path);
  if (open) return <FileView key={`${open.path} ${open.version}`} file={open} onClose={() => onPath(null)} />;
  if (files.length === 0)
    return (
      <EmptyState icon={<Files />} title="No files yet">
        Files written by agents appear here.
      </EmptyState>
    );
  const written = files.filter(({ kind }) => kind === "file");
  const results = files.filter(({ kind }) => kind === "result");
  return (
    <div className="flex flex-col gap-5 p-4">
      {written.length > 0 ? <FileList title="Written by agents" files={written} onPath={onPath} /> : null}
      {results.length > 0 ? <FileList title="Full tool results" files={results} onPath={onPath} /> : null}
    </div>
  );
}

/** Larger files are shown as text, in characters. */
const NICE_MOST = 200_000;

function FileView({ file, onClose }: { file: FileEvent; onClose: () => void }) {
  const page = useRunPage();
  const runId = page?.runId ?? "";
  const [isPlain, setPlain] = useState(false);
  const isLatest = useRun(({ head }) => head.files[file.path]?.version === file.version, true);
  const { text, isWhole, query } = useFileText(runId, file);
  const kind = isWhole && text.length <= NICE_MOST ? niceKind(file.path) : "text";
  return (
    <article aria-label={file.path} className="flex flex-col gap-3 p-4">
      <header className="flex items-center gap-2">
        <IconButton label="All files" icon={<ArrowLeft aria-hidden />} size="sm" onClick={onClose} />
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{file.path}</h2>
        {page ? (
          <a href={addressOf(runId, file)} download className={buttonClass({ size: "sm" })}>
            <Download aria-hidden className="size-4" />
            Download
          </a>
        ) : null}
      </header>
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto text-xs text-ink-3 tabular-nums">{describeVersion(file, isLatest)}</p>
        {kind === "text" ? null : (
          <SegmentedControl
            label="File view"
            size="sm"
            value={isPlain ? "plain" : "nice"}
            onValueChange={(value) => setPlain(value === "plain")}
            options={[
              { value: "nice", label: "Formatted" },
              { value: "plain", label: "Plain text" },
            ]}
          />
        )}
      </div>
      {query.isPending ? (
        <Spinner size={18} label="Loading file…" />
      ) : query.error ? (
        <p role="alert" className="text-[13px] text-failed">
          {toApiError(query.error).message}
        </p>
      ) : (
        <Content text={text} kind={isPlain ? "text" : kind} path={file.path} />
      )}
      {query.hasNextPage ? (
        <Button
          className="self-start"
          pending={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Load more
        </Button>
      ) : null}
    </article>
  );
}

function describeVersion({ size, version }: FileEvent, isLatest: boolean): string {
  const label = version > 1 || !isLatest ? ` · version ${version}` : "";
  return `${formatBytes(size)}${label}${isLatest ? "" : ", newer version available"}`;
}

/** Reads a version of a file, part by part; a version never changes. */
function useFileText(runId: string, { path, version }: FileEvent) {
  const client = useTrpcClient();
  const query = useInfiniteQuery({
    queryKey: ["run-file", runId, path, version],
    queryFn: ({ pageParam }) => client.runs.file.query({ run_id: runId, path, version, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next_offset,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: runId !== "",
  });
  const text = query.data?.pages.map(({ content }) => content).join("") ?? "";
  return { text, isWhole: query.data !== undefined && !query.hasNextPage, query };
}

function Content({ text, kind, path }: { text: string; kind: "markdown" | "json" | "text"; path: string }) {
  if (kind === "markdown") return <Markdown text={text} />;
  const value = kind === "json" ? parsed(text) : undefined;
  if (value !== undefined) return <JsonView value={value} label={path} />;
  return (
    <pre
      tabIndex={0}
      className="max-h-[70vh] overflow-auto whitespace-pre-wrap rounded-lg border border-line bg-sunken p-3 font-mono text-xs leading-5 [overflow-wrap:anywhere]"
    >
      {text === "" ? "The file is empty." : text}
    </pre>
  );
}

const niceKind = (path: string) =>
  /\.(md|markdown)$/i.test(path) ? "markdown" : /\.json$/i.test(path) ? "json" : "text";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
