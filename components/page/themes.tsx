import { Monitor, Moon, Sun } from "lucide-react";
import type { ReactNode } from "react";
import type { Theme } from "./theme";

export const themes = [
  { value: "light", label: "Light", icon: <Sun aria-hidden="true" /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden="true" /> },
  { value: "system", label: "System", icon: <Monitor aria-hidden="true" /> },
] as const satisfies { value: Theme; label: string; icon: ReactNode }[];
