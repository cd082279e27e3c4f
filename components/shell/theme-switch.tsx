"use client";

import { Monitor, Moon, Sun } from "lucide-react";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { setTheme, type Theme, useTheme } from "./theme";

const themes = [
  { value: "light", label: "Light", icon: <Sun aria-hidden="true" /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden="true" /> },
  { value: "system", label: "System", icon: <Monitor aria-hidden="true" /> },
] as const satisfies { value: Theme; label: string; icon: React.ReactNode }[];

/** Light, dark, or as the system says: three segments. */
export function ThemeSwitch() {
  const theme = useTheme();
  return <SegmentedControl label="Theme" options={themes} value={theme} onValueChange={setTheme} />;
}

/** The same behind one icon, where there is no room. */
export function ThemeMenu() {
  const theme = useTheme();
  const chosen = themes.find(({ value }) => value === theme) ?? themes[2];
  return (
    <Menu
      side="right"
      align="end"
      trigger={<IconButton label={`Theme: ${chosen.label}`} icon={chosen.icon} side="right" />}
      items={themes.map(({ value, label, icon }) => ({
        label,
        icon,
        checked: value === theme,
        onSelect: () => setTheme(value),
      }))}
    />
  );
}
