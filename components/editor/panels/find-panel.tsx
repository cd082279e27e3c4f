"use client";

import clsx from "clsx";
import { ArrowDown, ArrowUp, CaseSensitive, WholeWord, X } from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { TextField } from "@/components/ui/input/text-field";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { keyNameError } from "@/server/domain/graph/keys/rename-key";
import { allKeys, findText, type Hit } from "@/server/domain/graph/search/search";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { textEdits } from "../editing/text-edits";
import { useUi, useUiStore } from "../ui-store";

/** Finds and replaces text in the whole workflow. */
export function FindPanel() {
  const ui = useUiStore();
  const commands = useEditorCommands();
  const asked = useUi(({ find }) => find?.nonce);
  const panel = useRef<HTMLElement>(null);
  const search = useSearch();
  const { graph, query, hits, at } = search;
  const [replacement, setReplacement] = useState("");
  useEffect(() => {
    if (asked !== undefined) panel.current?.querySelector<HTMLInputElement>("input")?.select();
  }, [asked]);

  const close = () => {
    ui.setState({ find: null });
    commands.view.focusDrawing();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return (
    <section
      ref={panel}
      aria-label="Find and replace"
      onKeyDown={onKeyDown}
      className="popup absolute top-3 left-3 z-10 flex max-h-[70%] w-96 max-w-[calc(100%-1.5rem)] flex-col gap-2 p-2.5"
    >
      <FindRow search={search} onClose={close} />
      <ReplaceRow search={search} replacement={replacement} onReplacementChange={setReplacement} />
      <div className="flex items-center gap-1 text-[13px] text-ink-2">
        <span role="status" className="flex-1 px-1 tabular-nums">
          {query === "" ? "" : hits.length === 0 ? "No results" : `${at + 1} of ${hits.length}`}
        </span>
        <IconButton
          label="Previous match"
          shortcut="Shift Enter"
          size="sm"
          icon={<ArrowUp aria-hidden />}
          disabled={at < 0}
          onClick={() => search.go(at - 1)}
        />
        <IconButton
          label="Next match"
          shortcut="Enter"
          size="sm"
          icon={<ArrowDown aria-hidden />}
          disabled={at < 0}
          onClick={() => search.go(at + 1)}
        />
      </div>
      <RenameKey graph={graph} from={query.trim()} to={replacement.trim()} />
      {hits.length > 0 ? (
        <HitList
          {...{ graph, hits, at }}
          onPick={(hit, place) => {
            search.setChosen(place);
            commands.showHit(hit.at, "writing");
          }}
        />
      ) : null}
    </section>
  );
}

type Search = ReturnType<typeof useSearch>;

/** The query and its hits. `at`: the index of the current hit, -1 if there is none. */
function useSearch() {
  const graph = useEditor(({ doc }) => doc.graph);
  const commands = useEditorCommands();
  const [query, setQuery] = useState("");
  const [isExact, setExact] = useState(false);
  const [isWord, setWord] = useState(false);
  const [chosen, setChosen] = useState(0);
  const settled = useDeferredValue(graph);
  const hits = useMemo(
    () => findText(settled, query, { isExact, isWord }),
    [settled, query, isExact, isWord],
  );
  const at = hits.length === 0 ? -1 : Math.min(chosen, hits.length - 1);
  const go = (to: number) => {
    const place = (to + hits.length) % hits.length;
    const hit = hits[place];
    if (!hit) return;
    setChosen(place);
    commands.showHit(hit.at, "looking");
    commands.announce(`${place + 1} of ${hits.length}: ${placeOf(graph, hit)}`);
  };
  /** Whether the hits are those of the current graph. */
  const isSettled = settled === graph;
  return { graph, query, setQuery, isExact, setExact, isWord, setWord, hits, at, isSettled, setChosen, go };
}

function FindRow({ search, onClose }: { search: Search; onClose: () => void }) {
  const store = useEditorStore();
  const { query, isExact, isWord, hits, at } = search;
  return (
    <div className="flex items-center gap-1">
      <TextField
        label="Find"
        hideLabel
        placeholder="Find"
        value={query}
        onValueChange={(next) => {
          search.setQuery(next);
          search.setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          search.go(event.shiftKey ? at - 1 : isSelected(hits[at], store) ? at + 1 : at);
        }}
        fieldClassName="flex-1"
      />
      <IconButton
        label="Match case"
        size="sm"
        pressed={isExact}
        icon={<CaseSensitive aria-hidden />}
        onClick={() => search.setExact(!isExact)}
      />
      <IconButton
        label="Match whole word"
        size="sm"
        pressed={isWord}
        icon={<WholeWord aria-hidden />}
        onClick={() => search.setWord(!isWord)}
      />
      <IconButton label="Close" shortcut="Esc" size="sm" icon={<X aria-hidden />} onClick={onClose} />
    </div>
  );
}

function ReplaceRow({
  search: { hits, at, isSettled },
  replacement,
  onReplacementChange,
}: {
  search: Search;
  replacement: string;
  onReplacementChange: (text: string) => void;
}) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const current = hits.slice(at, at + 1);
  const replace = (which: readonly Hit[]) => {
    if (which.length === 0 || !isSettled) return;
    const before = store.getState().doc.graph;
    store.getState().edit(textEdits.replaceText, { hits: which, replacement });
    const isDone = store.getState().doc.graph !== before;
    const count = `${which.length} ${which.length === 1 ? "place" : "places"}`;
    commands.announce(isDone ? `Replaced in ${count}` : `“${replacement}” isn't allowed here`);
  };
  return (
    <div className="flex items-center gap-1">
      <TextField
        label="Replace with"
        hideLabel
        placeholder="Replace with…"
        value={replacement}
        onValueChange={onReplacementChange}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || at < 0) return;
          event.preventDefault();
          replace(current);
        }}
        fieldClassName="flex-1"
      />
      <Button size="sm" disabled={at < 0} onClick={() => replace(current)}>
        Replace
      </Button>
      <Button size="sm" disabled={at < 0} onClick={() => replace(hits)}>
        Replace all
      </Button>
    </div>
  );
}

const MOST_SHOWN = 200;

function HitList({
  graph,
  hits,
  at,
  onPick,
}: {
  graph: WorkflowGraph;
  hits: readonly Hit[];
  /** The index of the current hit. */
  at: number;
  onPick: (hit: Hit, place: number) => void;
}) {
  return (
    <ol aria-label="Search results" className="min-h-0 overflow-y-auto border-t border-line pt-1">
      {hits.slice(0, MOST_SHOWN).map((hit, place) => (
        <li key={`${hit.site} ${hit.from}`}>
          <button
            type="button"
            aria-current={place === at || undefined}
            onClick={() => onPick(hit, place)}
            className={clsx(
              "block w-full rounded-md px-2 py-1 text-left text-[13px] hover:bg-ink/5",
              place === at && "bg-accent-soft",
            )}
          >
            <span className="block truncate text-xs text-ink-3">{placeOf(graph, hit)}</span>
            <Excerpt hit={hit} />
          </button>
        </li>
      ))}
      {hits.length > MOST_SHOWN ? (
        <li className="px-2 py-1 text-xs text-ink-3">{`and ${hits.length - MOST_SHOWN} more`}</li>
      ) : null}
    </ol>
  );
}

/** Whether the place of a hit is selected: then Enter goes to the next hit. */
function isSelected(hit: Hit | undefined, store: ReturnType<typeof useEditorStore>): boolean {
  const { nodes, edges } = store.getState().selection;
  return hit?.at.id !== undefined && (nodes.has(hit.at.id) || edges.has(hit.at.id));
}

/** Review: Task */
function placeOf({ nodes, edges }: WorkflowGraph, { at, title }: Hit): string {
  const nameOf = (id: string | undefined) => (id === undefined ? "" : nodes[id]?.name || id);
  if (at.kind === "node") return `${nameOf(at.id)}: ${title}`;
  const edge = edges.find(({ id }) => id === at.id);
  return edge ? `${nameOf(edge.source_node_id)} to ${nameOf(edge.target_node_id)}: ${title}` : title;
}

function Excerpt({ hit: { text, from, to } }: { hit: Hit }) {
  const begin = Math.max(0, from - 24);
  return (
    <span className="block truncate">
      {begin > 0 ? "…" : ""}
      {text.slice(begin, from)}
      <mark className="rounded-sm bg-accent/20 text-ink">{text.slice(from, to)}</mark>
      {text.slice(to, to + 60)}
    </span>
  );
}

/** Renames a key of the state everywhere, if the search is for one. */
function RenameKey({ graph, from, to }: { graph: WorkflowGraph; from: string; to: string }) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const isKey = useMemo(() => from !== "" && allKeys(graph).includes(from), [graph, from]);
  if (!isKey || to === "" || to === from) return null;
  const error = keyNameError(graph, from, to);
  return (
    <div className="flex flex-col gap-1 px-1">
      <Button
        size="sm"
        className="self-start"
        disabled={error !== null}
        onClick={() => {
          store.getState().edit(textEdits.renameKey, { from, to });
          commands.announce(`Renamed key ${from} to ${to} everywhere`);
        }}
      >
        Rename key {from} to {to} everywhere
      </Button>
      {error ? <p className="text-[13px] text-failed">{error}</p> : null}
    </div>
  );
}
