"use client";

import { Combobox as Base } from "@base-ui/react/combobox";
import clsx from "clsx";
import { Check, ChevronsUpDown, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { OVER_THE_PAGE } from "./choice-list";
import { Field, type FieldLabelProps } from "./field";
import type { SelectOption } from "./select";

export interface PickerOption<V extends string = string> extends SelectOption<V> {
  /** Shown, but not to be chosen; the hint says why. */
  disabled?: boolean | undefined;
}

export interface PickerProps<V extends string> extends FieldLabelProps {
  options: readonly PickerOption<V>[];
  /** Null if nothing is chosen. */
  value: V | null;
  onValueChange: (value: V) => void;
  placeholder?: string | undefined;
  searchPlaceholder?: string | undefined;
  /** Creates an item: the last row of the list. `text`: the search text, possibly empty. */
  create?: { label: (text: string) => string; onCreate: (text: string) => void } | undefined;
  fieldClassName?: string | undefined;
}

const CREATE = "(create)";

/** Picks one of many options by a search; shows their faces and full descriptions, and may create a new one. */
export function Picker<V extends string>({
  options,
  value,
  onValueChange,
  placeholder = "Choose…",
  searchPlaceholder = "Search…",
  create,
  fieldClassName,
  ...labelProps
}: PickerProps<V>) {
  const [search, setSearch] = useState("");
  const trigger = useRef<HTMLButtonElement>(null);
  const chosen = options.find((option) => option.value === value) ?? null;
  const wanted = search.trim();
  const isThere = options.some(({ label }) => label.toLowerCase() === wanted.toLowerCase());
  const rows: Row[] = [
    ...options.filter((option) => fits(option, wanted)),
    ...(create && !isThere ? [{ value: CREATE, label: create.label(wanted) }] : []),
  ];
  return (
    <Field {...labelProps} className={fieldClassName}>
      {(control) => (
        <Base.Root<Row>
          items={rows}
          filteredItems={rows}
          value={chosen}
          itemToStringLabel={({ label }) => label}
          isItemEqualToValue={(a, b) => a.value === b.value}
          inputValue={search}
          onInputValueChange={setSearch}
          onOpenChange={(isOpen) => {
            if (isOpen) setSearch("");
          }}
          autoHighlight
          onValueChange={(row) => {
            if (!row) return;
            const option = options.find(({ value }) => value === row.value);
            if (option) return onValueChange(option.value);
            // Return focus first, so that whatever opens now can restore it.
            trigger.current?.focus();
            create?.onCreate(wanted);
          }}
        >
          <Base.Trigger
            ref={trigger}
            {...control}
            className="control flex h-8 items-center gap-2 px-2.5 text-left pointer-coarse:h-10"
          >
            {chosen?.icon}
            <span className={clsx("min-w-0 flex-1 truncate", !chosen && "text-ink-3")}>
              {chosen ? chosen.label : (value ?? placeholder)}
            </span>
            <ChevronsUpDown aria-hidden="true" className="size-3.5 shrink-0 text-ink-3" />
          </Base.Trigger>
          <Base.Portal>
            <Base.Positioner {...OVER_THE_PAGE}>
              <Base.Popup
                aria-label={labelProps.label}
                className="popup flex max-h-[min(var(--available-height),26rem)] w-[max(var(--anchor-width),18rem)] max-w-(--available-width) flex-col overflow-hidden outline-none"
              >
                <Base.Input
                  aria-label={`Search: ${labelProps.label}`}
                  placeholder={searchPlaceholder}
                  className="h-10 w-full shrink-0 border-b border-line bg-transparent px-3 text-sm outline-none placeholder:text-ink-3"
                />
                <Base.Empty>
                  <p className="px-3 py-4 text-sm text-ink-2">No results</p>
                </Base.Empty>
                <Base.List className="min-h-0 overflow-y-auto overscroll-contain p-1 outline-none data-empty:p-0">
                  {(row: Row) => <RowView key={row.value} row={row} />}
                </Base.List>
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </Field>
  );
}

function RowView({ row }: { row: Row }) {
  return (
    <Base.Item
      value={row}
      disabled={row.disabled}
      className={clsx(
        row.disabled && "opacity-55",
        "grid cursor-default grid-cols-[1rem_1fr] items-start gap-x-2 rounded-md px-2 py-1.5 text-sm outline-none data-[highlighted]:bg-ink/6 pointer-coarse:py-2.5",
        row.value === CREATE && "font-medium text-accent",
      )}
    >
      {row.value === CREATE ? (
        <Plus aria-hidden="true" className="mt-0.5 size-4" />
      ) : (
        <Base.ItemIndicator className="col-start-1 pt-0.5">
          <Check aria-hidden="true" className="size-4 text-accent" />
        </Base.ItemIndicator>
      )}
      <span className="col-start-2 flex min-w-0 flex-col">
        <span className="flex items-center gap-2">
          {row.icon}
          {row.label}
        </span>
        {row.hint ? <span className="text-xs text-ink-3">{row.hint}</span> : null}
      </span>
    </Base.Item>
  );
}

type Row = PickerOption;

/** Whether the name or description contains every word of the search. */
function fits({ label, hint = "" }: Row, wanted: string): boolean {
  const text = `${label} ${hint}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
