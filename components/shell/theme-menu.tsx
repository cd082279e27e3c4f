"use client";

import { setTheme, useTheme } from "@/components/page/theme";
import { themes } from "@/components/page/themes";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";

/** Light, dark, or as the system says, behind one icon. */
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
