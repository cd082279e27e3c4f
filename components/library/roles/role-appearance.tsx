"use client";

import clsx from "clsx";
import { Check } from "lucide-react";
import { RoleFace } from "@/components/display/role-face";
import { roleIcons } from "@/components/display/role-icons";
import { Button } from "@/components/ui/button";
import { Popover } from "@/components/ui/overlay/popover";

/** Muted colors that work on both themes and differ from the five status colors. */
const colors = [
  { value: "#a8577e", label: "Plum" },
  { value: "#b0664a", label: "Clay" },
  { value: "#9a7b2f", label: "Ochre" },
  { value: "#5f8150", label: "Moss" },
  { value: "#3f837d", label: "Teal" },
  { value: "#4d76a8", label: "Denim" },
  { value: "#7466ad", label: "Iris" },
  { value: "#77706c", label: "Stone" },
];

/** Picks the icon and color of a role. */
export function RoleAppearance({
  name,
  icon,
  color,
  onChange,
}: {
  name: string;
  icon: string | undefined;
  color: string | undefined;
  onChange: (appearance: { icon?: string | undefined; color?: string | undefined }) => void;
}) {
  return (
    <Popover
      title="Appearance"
      className="w-76"
      trigger={
        <button type="button" className="shrink-0 rounded-xl outline-offset-2 hover:opacity-80">
          <span className="sr-only">Change appearance</span>
          <RoleFace name={name} icon={icon} color={color} size={48} className="rounded-xl" />
        </button>
      }
    >
      <fieldset aria-label="Color" className="mb-3 flex flex-wrap gap-1.5">
        {colors.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            aria-label={label}
            aria-pressed={color === value}
            onClick={() => onChange({ icon, color: value })}
            style={{ backgroundColor: value }}
            className="flex size-7 items-center justify-center rounded-full text-white"
          >
            {color === value ? <Check aria-hidden="true" className="size-3.5" strokeWidth={3} /> : null}
          </button>
        ))}
      </fieldset>
      <fieldset aria-label="Icon" className="grid grid-cols-8 gap-0.5">
        {Object.entries(roleIcons).map(([key, Icon]) => (
          <button
            key={key}
            type="button"
            aria-label={key.replaceAll("-", " ")}
            aria-pressed={icon === key}
            onClick={() => onChange({ icon: icon === key ? undefined : key, color })}
            className={clsx(
              "flex size-8 items-center justify-center rounded-lg hover:bg-ink/6",
              icon === key ? "bg-accent-soft text-accent" : "text-ink-2",
            )}
          >
            <Icon aria-hidden="true" size={16} strokeWidth={1.75} />
          </button>
        ))}
      </fieldset>
      <Button
        size="sm"
        variant="ghost"
        className="mt-2"
        onClick={() => onChange({ icon: undefined, color: undefined })}
      >
        Use initials
      </Button>
    </Popover>
  );
}
