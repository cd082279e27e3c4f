"use client";

import clsx from "clsx";
import { X } from "lucide-react";
import { type ChangeEvent, type ClipboardEvent, type KeyboardEvent, useId, useState } from "react";
import { Field } from "@/components/ui/input/field";
import { StateKey } from "@/server/domain/base/values";

export interface KeysFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  keys: readonly string[];
  onChange: (keys: string[]) => void;
  suggestions?: readonly { key: string; detail?: string }[];
  placeholder?: string;
}

/** State keys as tokens: type a key and press Enter, comma or space; Backspace removes the last one. */
export function KeysField({ label, hint, error, placeholder, ...props }: KeysFieldProps) {
  const { keys, onChange } = props;
  const id = useId();
  const { offered, isListed, active, keyError, add, handlers } = useKeyInput(props);
  return (
    <Field label={label} hint={hint} error={keyError ?? error}>
      {(control) => (
        <div className="relative">
          <div className="control flex flex-wrap items-center gap-1 px-1.5 py-1">
            {keys.map((key) => (
              <span
                key={key}
                className="inline-flex h-6 items-center gap-0.5 rounded-md bg-sunken pr-0.5 pl-2 font-mono text-xs text-ink"
              >
                {key}
                <button
                  type="button"
                  aria-label={`Remove ${key} from ${label}`}
                  onClick={() => onChange(keys.filter((other) => other !== key))}
                  className="grid size-5 place-items-center rounded text-ink-3 hover:bg-ink/8 hover:text-ink"
                >
                  <X aria-hidden className="size-3" />
                </button>
              </span>
            ))}
            <input
              {...control}
              type="text"
              role="combobox"
              aria-expanded={isListed}
              aria-controls={`${id}list`}
              aria-autocomplete="list"
              aria-activedescendant={isListed && active >= 0 ? `${id}${active}` : undefined}
              autoComplete="off"
              spellCheck={false}
              placeholder={keys.length === 0 ? placeholder : undefined}
              {...handlers}
              className="h-6 min-w-20 flex-1 bg-transparent px-1 font-mono text-xs outline-none placeholder:font-sans placeholder:text-[13px] placeholder:text-ink-3 pointer-coarse:h-8"
            />
          </div>
          {isListed && <Suggestions {...{ id, label, offered, active }} onPick={add} />}
        </div>
      )}
    </Field>
  );
}

/** The text of the input, and the suggestions that match it. */
function useKeyInput({
  keys,
  onChange,
  suggestions = [],
}: Pick<KeysFieldProps, "keys" | "onChange" | "suggestions">) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [keyError, setKeyError] = useState<string | null>(null);
  const offered = suggestions
    .filter(({ key }) => !keys.includes(key) && key.toLowerCase().includes(text.trim().toLowerCase()))
    .slice(0, 8);
  const isListed = isOpen && offered.length > 0;
  const add = (raw: string) => {
    const names = raw.split(/[\s,]+/).filter(Boolean);
    const wrong = names.map((name) => StateKey.safeParse(name)).find((parsed) => !parsed.success);
    if (wrong) {
      setKeyError(wrong.error?.issues[0]?.message ?? "Invalid key. Use letters, digits and _.");
      return;
    }
    setKeyError(null);
    setText("");
    setActive(-1);
    setOpen(false);
    if (names.length > 0) onChange([...new Set([...keys, ...names])]);
  };
  const handlers = {
    value: text,
    onClick: () => setOpen(true),
    onBlur() {
      setOpen(false);
      if (text.trim()) add(text);
    },
    onChange(event: ChangeEvent<HTMLInputElement>) {
      const next = event.target.value;
      setOpen(true);
      setActive(-1);
      if (/[\s,]$/.test(next) && next.trim()) add(next);
      else setText(next);
    },
    onPaste(event: ClipboardEvent) {
      const pasted = event.clipboardData.getData("text");
      if (/[\s,]/.test(pasted.trim())) {
        event.preventDefault();
        add(text + pasted);
      }
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.key === "ArrowDown" && offered.length > 0) {
        event.preventDefault();
        setOpen(true);
        setActive((active + 1) % offered.length);
      } else if (event.key === "ArrowUp" && isListed) {
        event.preventDefault();
        setActive((active - 1 + offered.length) % offered.length);
      } else if (event.key === "Enter") {
        const chosen = isListed ? offered[active] : undefined;
        if (chosen || text.trim()) {
          event.preventDefault();
          add(chosen?.key ?? text);
        }
      } else if (event.key === "Escape" && isListed) {
        event.stopPropagation();
        setOpen(false);
      } else if (event.key === "Backspace" && text === "" && keys.length > 0) onChange(keys.slice(0, -1));
    },
  };
  return { offered, isListed, active, keyError, add, handlers };
}

function Suggestions({
  id,
  label,
  offered,
  active,
  onPick,
}: {
  id: string;
  label: string;
  offered: NonNullable<KeysFieldProps["suggestions"]>;
  active: number;
  onPick: (key: string) => void;
}) {
  return (
    <div
      id={`${id}list`}
      role="listbox"
      aria-label={`Suggestions for ${label}`}
      className="popup absolute top-full right-0 left-0 z-30 mt-1 max-h-56 overflow-y-auto p-1"
    >
      {offered.map(({ key, detail }, at) => (
        <div
          key={key}
          id={`${id}${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === active}
          // Before the input loses focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(key);
          }}
          className={clsx(
            "flex cursor-default items-baseline gap-3 rounded-md px-2 py-1 text-xs hover:bg-ink/6",
            at === active && "bg-ink/6",
          )}
        >
          <code className="font-mono">{key}</code>
          {detail && <span className="ml-auto truncate text-ink-3">{detail}</span>}
        </div>
      ))}
    </div>
  );
}
