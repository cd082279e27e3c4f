import type { NodeProps } from "@xyflow/react";
import dynamic from "next/dynamic";
import { memo, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { defined } from "@/server/domain/base/defined";
import { noteTextOf, settingsOf } from "@/server/domain/nodes";
import { useCanvas } from "../canvas-context";
import type { FlowNode } from "../flow-mapping";
import { useCanvasView } from "../use-canvas-view";
import { isSameData } from "./node-card";
import { noteSize, sizeOfNote } from "./note-size";

const Markdown = dynamic(() => import("@/components/display/markdown").then((m) => m.Markdown), {
  ssr: false,
});

interface Size {
  width: number;
  height: number;
}

/** A note in Markdown, not part of any run. Double-click edits it, its corner resizes it. */
export const NoteCard = memo(function NoteCard({ data: { node } }: NodeProps<FlowNode>) {
  const { editing } = useCanvas();
  const text = noteTextOf(node) ?? "";
  const [isWriting, setWriting] = useState(false);
  const [dragged, setDragged] = useState<Size | null>(null);
  const { width, height } = dragged ?? sizeOfNote(node);
  const { color } = settingsOf(node);
  const inside = useRef<HTMLDivElement>(null);
  const isCut = useIsCut(inside, height !== undefined && !isWriting);
  return (
    <article
      aria-label={node.name || "Note"}
      className="node-note"
      data-node={node.id}
      data-color={color}
      data-sized={height !== undefined || undefined}
      style={{ ...defined({ width: width || undefined, height: height || undefined }) }}
      // Text that overflows can be scrolled by keyboard, too.
      tabIndex={height === undefined ? -1 : 0}
      onDoubleClick={(event) => {
        if (!editing) return;
        event.stopPropagation();
        setWriting(true);
      }}
    >
      {node.name && node.name !== "Note" && <strong>{node.name}</strong>}
      {isWriting && editing ? (
        <Writing
          text={text}
          onDone={(next) => {
            setWriting(false);
            if (next !== null && next !== text) editing.onWriteNote(node.id, next);
          }}
        />
      ) : (
        <div ref={inside}>
          <Text text={text} />
        </div>
      )}
      {isCut ? (
        <span aria-hidden className="note-more">
          More below
        </span>
      ) : null}
      {editing ? (
        <Grip
          onDrag={setDragged}
          onDrop={(size) => {
            setDragged(null);
            editing.onResizeNote(node.id, noteSize(size));
          }}
        />
      ) : null}
    </article>
  );
}, isSameData);

/** Whether the text overflows the note. */
function useIsCut(inside: RefObject<HTMLElement | null>, isAsked: boolean): boolean {
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const text = inside.current;
    const note = text?.parentElement;
    if (!isAsked || !text || !note) return;
    const update = () => setCut(note.scrollHeight - note.scrollTop - note.clientHeight > HARDLY);
    const observer = new ResizeObserver(update);
    observer.observe(text);
    observer.observe(note);
    note.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      note.removeEventListener("scroll", update);
    };
  }, [inside, isAsked]);
  return isAsked && isCut;
}

/** By how many pixels a text may be taller than its card before the card says that there is more: less than a line. */
const HARDLY = 12;

/** The Markdown renderer is loaded only for text that looks like Markdown. */
function Text({ text }: { text: string }) {
  if (text === "")
    return (
      <p>
        <em>Empty note</em>
      </p>
    );
  return /[*_`#[\]>|~]|^[ \t]*(-|\d+\.)\s/m.test(text) ? (
    <Markdown text={text} headingsFrom={2} />
  ) : (
    <p>{text}</p>
  );
}

function Writing({ text, onDone }: { text: string; onDone: (text: string | null) => void }) {
  const [draft, setDraft] = useState(text);
  return (
    <textarea
      // biome-ignore lint/a11y/noAutofocus: it opens because somebody wants to write
      autoFocus
      aria-label="Note text"
      className="nodrag nopan nowheel"
      maxLength={8000}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => onDone(draft)}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone(null);
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onDone(draft);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

/** The corner by which a note is made larger or smaller; by keyboard its settings do the same. */
function Grip({ onDrag, onDrop }: { onDrag: (size: Size) => void; onDrop: (size: Size) => void }) {
  const from = useRef<(Size & { x: number; y: number }) | null>(null);
  const view = useCanvasView();
  const sizeAt = ({ clientX, clientY }: PointerEvent): Size | null => {
    const at = view.toFlow({ x: clientX, y: clientY });
    const begin = from.current;
    return begin && { width: begin.width + at.x - begin.x, height: begin.height + at.y - begin.y };
  };
  return (
    <span
      aria-hidden
      className="note-grip nodrag nopan"
      onPointerDown={(event) => {
        const card = event.currentTarget.parentElement;
        if (!card) return;
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        const { x, y } = view.toFlow({ x: event.clientX, y: event.clientY });
        from.current = { x, y, width: card.offsetWidth, height: card.offsetHeight };
      }}
      onPointerMove={(event) => {
        const size = sizeAt(event);
        if (size) onDrag(noteSize(size));
      }}
      onPointerUp={(event) => {
        const size = sizeAt(event);
        from.current = null;
        if (size) onDrop(size);
      }}
    />
  );
}
