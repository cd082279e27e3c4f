import { History, type LucideIcon, Settings, UsersRound, Workflow } from "lucide-react";

/** The main places of the app, in the order of the rail. */
export const places: readonly {
  href: string;
  label: string;
  icon: LucideIcon;
  isHere: (path: string) => boolean;
}[] = [
  {
    href: "/",
    label: "Workflows",
    icon: Workflow,
    isHere: (path) => path === "/" || path.startsWith("/workflows"),
  },
  { href: "/runs", label: "Runs", icon: History, isHere: (path) => path.startsWith("/runs") },
  { href: "/roles", label: "Roles", icon: UsersRound, isHere: (path) => path.startsWith("/roles") },
  { href: "/settings", label: "Settings", icon: Settings, isHere: (path) => path.startsWith("/settings") },
];
