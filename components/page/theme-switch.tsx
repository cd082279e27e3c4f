"use client";

import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { setTheme, useTheme } from "./theme";
import { themes } from "./themes";

/** Light, dark, or as the system says: three segments. */
export function ThemeSwitch() {
  const theme = useTheme();
  return <SegmentedControl label="Theme" options={themes} value={theme} onValueChange={setTheme} />;
}
