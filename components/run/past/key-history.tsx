"use client";

import clsx from "clsx";
import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { ValueView } from "@/components/run/values";
import { type KeyWrite, keyHistory } from "@/server/domain/run/past/key-history";
import { MomentLink } from "./moment-link";
import { useEventsSoFar } from "./use-past";

/** How many writes start expanded, the newest first. */
const SHOWN = 8;

/** The history of a key, collapsed: it reads all events, so it is computed when opened. */
export function FoldedKeyHistory({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex items-center gap-1 self-start rounded text-xs text-ink-3 hover:text-accent pointer-coarse:min-h-9"
      >
        <ChevronRight aria-hidden className={clsx("size-3.5 transition-transform", isOpen && "rotate-90")} />
        History<span className="sr-only"> of {name}</span>
      </button>
      {isOpen ? <KeyHistory name={name} /> : null}
    </div>
  );
}

/** The writes of a state key up to the cursor, latest first: who, when, and the value before. */
function KeyHistory({ name }: { name: string }) {
  const events = useEventsSoFar();
  const writes = useMemo(() => keyHistory(events, name).toReversed(), [events, name]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? writes : writes.slice(0, SHOWN);
  return (
    <div className="flex flex-col gap-1.5">
      <ol aria-label={`History of ${name}`} className="flex flex-col gap-2">
        {shown.map((write) => (
          <li key={write.seq} className="flex min-w-0 flex-col gap-1 border-l-2 border-line pl-3">
            <Written write={write} name={name} />
          </li>
        ))}
      </ol>
      {writes.length > shown.length ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="self-start text-xs font-medium text-accent hover:text-accent-hover pointer-coarse:py-2"
        >
          Show all {writes.length}
        </button>
      ) : null}
    </div>
  );
}

function Written({ write, name }: { write: KeyWrite; name: string }) {
  const { seq, before, after } = write;
  const who = useWriter(write);
  return (
    <>
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-1 text-xs text-ink-2">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {after === undefined ? "Removed by" : "Written by"} {who}
        </span>
        <MomentLink seq={seq} about={`${name} written by ${who}`} className="ml-auto" />
      </p>
      <div className="flex min-w-0 flex-col gap-1 text-xs text-ink-3">
        {before === undefined ? (
          "Previously not set"
        ) : (
          <>
            Previous value:
            <ValueView value={before} label={`${name} before`} />
          </>
        )}
      </div>
    </>
  );
}

function useWriter({ writer, node_id, agent_id, by }: KeyWrite): string {
  const name = useRun(({ head }) => (node_id ? head.graph.nodes[node_id]?.name || node_id : ""), "");
  if (by) return by === "user" ? "a person" : by;
  if (writer === "input") return "the input";
  const turn = writer.split("#")[1] ?? "1";
  const step = turn === "1" ? name : `${name} ×${turn}`;
  return agent_id && person(agent_id) !== name ? `${step}, ${person(agent_id)}` : step;
}
