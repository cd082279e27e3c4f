"use client";

import clsx from "clsx";
import { ArrowDown, ArrowUp, GripVertical, Plus, X } from "lucide-react";
import { type DragEvent, type KeyboardEvent, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Button } from "../button";
import { IconButton } from "../icon-button";
import { Field, type FieldLabelProps } from "./field";

export interface ListEditorProps extends FieldLabelProps {
  items: readonly string[];
  onItemsChange: (items: string[]) => void;
  /** The noun for an item, such as "goal". */
  itemName: string;
  placeholder?: string | undefined;
  mono?: boolean | undefined;
  /** Errors by index. */
  itemErrors?: Readonly<Record<number, string>> | undefined;
}

/** A list of texts. Enter adds an item, Backspace removes an empty one, Alt and arrows (or dragging) move it. */
export function ListEditor({
  label,
  hideLabel,
  hint,
  error,
  aside,
  items,
  onItemsChange,
  itemName,
  placeholder,
  mono,
  itemErrors = {},
}: ListEditorProps) {
  const { list, set, add, remove, move, onKeyDown } = useItems(items, onItemsChange);
  const dragging = useDragging(move);

  return (
    <Field {...{ label, hideLabel, hint, error, aside }} group>
      <ol ref={list} className={clsx("flex flex-col gap-1", items.length === 0 && "hidden")}>
        {items.map((item, at) => (
          <li
            key={at}
            {...dragging.target(at)}
            className={clsx("group/item", dragging.isOver(at) && "rounded-lg outline-2 outline-focus")}
          >
            <div className="relative flex items-start gap-1">
              <span
                draggable
                aria-hidden="true"
                {...dragging.handle(at)}
                className="flex h-8 w-5 shrink-0 cursor-grab items-center justify-center text-ink-3 active:cursor-grabbing pointer-coarse:hidden"
              >
                <GripVertical className="size-3.5" />
              </span>
              <textarea
                rows={1}
                aria-label={`${label}, ${itemName} ${at + 1}`}
                aria-invalid={itemErrors[at] ? true : undefined}
                value={item}
                placeholder={placeholder}
                onChange={(event) => set(at, event.target.value)}
                onKeyDown={(event) => onKeyDown(event, at)}
                className={clsx(
                  "control field-sizing-content min-h-8 resize-none px-2.5 py-[5px] pointer-coarse:min-h-10",
                  mono && "font-mono text-[13px]",
                )}
              />
              <ItemButtons
                name={`${itemName} ${at + 1}`}
                isFirst={at === 0}
                isLast={at === items.length - 1}
                onMove={(step) => move(at, at + step)}
                onRemove={() => remove(at)}
              />
            </div>
            {itemErrors[at] ? <p className="mt-1 ml-6 text-[13px] text-failed">{itemErrors[at]}</p> : null}
          </li>
        ))}
      </ol>
      <div>
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus aria-hidden="true" />}
          onClick={() => add(items.length)}
        >
          Add {itemName}
        </Button>
      </div>
    </Field>
  );
}

function useDragging(move: (from: number, to: number) => void) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  return {
    isOver: (at: number) => over === at && dragged !== null && dragged !== at,
    handle: (at: number) => ({
      onDragStart(event: DragEvent) {
        event.dataTransfer.effectAllowed = "move";
        setDragged(at);
      },
      onDragEnd() {
        setDragged(null);
        setOver(null);
      },
    }),
    target: (at: number) => ({
      onDragOver(event: DragEvent) {
        if (dragged === null) return;
        event.preventDefault();
        setOver(at);
      },
      onDrop() {
        if (dragged !== null) move(dragged, at);
      },
    }),
  };
}

function useItems(items: readonly string[], onItemsChange: (items: string[]) => void) {
  const list = useRef<HTMLOListElement>(null);
  /** Changes the list and focuses an item at once: on a busy machine the next key may arrive before the next frame. */
  const change = (next: string[], goTo: number) => {
    flushSync(() => onItemsChange(next));
    list.current?.querySelectorAll("textarea")[goTo]?.focus();
  };
  const set = (at: number, text: string) => onItemsChange(items.map((item, i) => (i === at ? text : item)));
  const add = (at: number) => change([...items.slice(0, at), "", ...items.slice(at)], at);
  const remove = (at: number) =>
    change(
      items.filter((_, i) => i !== at),
      Math.max(0, at - 1),
    );
  const move = (from: number, to: number) => {
    if (to < 0 || to >= items.length || from === to) return;
    const next = [...items];
    const [item] = next.splice(from, 1);
    next.splice(to, 0, item ?? "");
    change(next, to);
  };

  const onKeyDown = (event: KeyboardEvent, at: number) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      add(at + 1);
    } else if (event.key === "Backspace" && items[at] === "") {
      event.preventDefault();
      remove(at);
    } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      move(at, at + (event.key === "ArrowUp" ? -1 : 1));
    }
  };
  return { list, set, add, remove, move, onKeyDown };
}

function ItemButtons({
  name,
  isFirst,
  isLast,
  onMove,
  onRemove,
}: {
  name: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (step: 1 | -1) => void;
  onRemove: () => void;
}) {
  return (
    <div className="pointer-fine:absolute pointer-fine:top-0.5 pointer-fine:right-0.5 pointer-fine:rounded-md pointer-fine:bg-raised pointer-fine:pl-1 flex opacity-0 transition-opacity group-focus-within/item:opacity-100 group-hover/item:opacity-100 pointer-coarse:opacity-100">
      <IconButton
        size="sm"
        plain
        label={`Move ${name} up`}
        icon={<ArrowUp aria-hidden="true" />}
        disabled={isFirst}
        onClick={() => onMove(-1)}
      />
      <IconButton
        size="sm"
        plain
        label={`Move ${name} down`}
        icon={<ArrowDown aria-hidden="true" />}
        disabled={isLast}
        onClick={() => onMove(1)}
      />
      <IconButton
        size="sm"
        plain
        variant="danger"
        label={`Remove ${name}`}
        icon={<X aria-hidden="true" />}
        onClick={onRemove}
      />
    </div>
  );
}
