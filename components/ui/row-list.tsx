"use client";

import { ChevronRight, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { IconButton } from "./icon-button";
import { Field, type FieldLabelProps } from "./input/field";

export interface RowListProps<T> extends FieldLabelProps {
  items: readonly T[];
  /** The label of the button that adds a row. */
  addLabel: string;
  canAdd?: boolean | undefined;
  newItem: () => T;
  onItemsChange: (items: T[]) => void;
  removeLabel: (item: T, at: number) => string;
  /** Rows bring their own border, as `FoldedRow` does. */
  plain?: boolean | undefined;
  /** Renders a row, and places its remove button. `set` replaces the item. */
  children: (item: T, at: number, remove: ReactNode, set: (item: T) => void) => ReactNode;
}

/** Rows of fields with remove buttons, and a button that adds a row. */
export function RowList<T>({
  items,
  addLabel,
  canAdd = true,
  newItem,
  onItemsChange,
  removeLabel,
  plain,
  children,
  ...labelProps
}: RowListProps<T>) {
  return (
    <Field {...labelProps} group>
      {items.length > 0 ? (
        <ol aria-label={labelProps.label} className="flex flex-col gap-2">
          {items.map((item, at) => (
            <li
              key={at}
              className={plain ? undefined : "flex flex-col gap-3 rounded-lg border border-line bg-bg p-2.5"}
            >
              {children(
                item,
                at,
                <IconButton
                  size="sm"
                  variant="danger"
                  label={removeLabel(item, at)}
                  icon={<Trash2 aria-hidden />}
                  onClick={() => onItemsChange(items.toSpliced(at, 1))}
                />,
                (next) => onItemsChange(items.with(at, next)),
              )}
            </li>
          ))}
        </ol>
      ) : null}
      <Button
        size="sm"
        variant="ghost"
        icon={<Plus aria-hidden />}
        className="self-start"
        disabled={!canAdd}
        onClick={() => onItemsChange([...items, newItem()])}
      >
        {addLabel}
      </Button>
    </Field>
  );
}

/** A row with a one-line summary that opens to its fields. */
export function FoldedRow({
  label,
  summary,
  remove,
  isOpenAtFirst = false,
  children,
}: {
  label: string;
  summary: ReactNode;
  remove: ReactNode;
  isOpenAtFirst?: boolean | undefined;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <div className="relative rounded-lg border border-line bg-bg">
      <details
        className="group/fold"
        aria-label={label}
        open={isOpen}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary className="flex min-h-10 list-none items-center gap-2 rounded-lg py-2 pr-11 pl-2.5 text-sm [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-3.5 shrink-0 text-ink-3 transition-transform group-open/fold:rotate-90"
          />
          {summary}
        </summary>
        {isOpen ? <div className="flex flex-col gap-3 border-t border-line p-3">{children}</div> : null}
      </details>
      {/* Beside the summary, not in it: a button must not stand inside of another. */}
      <span className="absolute top-1.5 right-1.5 pointer-coarse:top-0.5">{remove}</span>
    </div>
  );
}
