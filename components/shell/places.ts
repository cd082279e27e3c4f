import {
  Brain,
  History,
  Inbox,
  type LucideIcon,
  Network,
  Settings,
  Trash2,
  UsersRound,
  Workflow,
  Wrench,
} from "lucide-react";

/** The main places of the app, in the order of the rail. */
export const places: readonly {
  href: string;
  label: string;
  icon: LucideIcon;
  isHere: (path: string) => boolean;
  /** On phones it stands behind "More". */
  isMinor?: boolean;
}[] = [
  {
    href: "/",
    label: "Workflows",
    icon: Workflow,
    isHere: (path) => path === "/" || path.startsWith("/workflows") || path.startsWith("/templates"),
  },
  { href: "/runs", label: "Runs", icon: History, isHere: (path) => path.startsWith("/runs") },
  { href: "/inbox", label: "Inbox", icon: Inbox, isHere: (path) => path.startsWith("/inbox") },
  { href: "/roles", label: "Roles", icon: UsersRound, isHere: (path) => path.startsWith("/roles") },
  {
    href: "/crews",
    label: "Crews",
    icon: Network,
    isHere: (path) => path.startsWith("/crews") || path.startsWith("/agents"),
    isMinor: true,
  },
  {
    href: "/tools",
    label: "Tools",
    icon: Wrench,
    isHere: (path) => path.startsWith("/tools"),
    isMinor: true,
  },
  {
    href: "/memory",
    label: "Memory",
    icon: Brain,
    isHere: (path) => path.startsWith("/memory"),
    isMinor: true,
  },
  {
    href: "/bin",
    label: "Bin",
    icon: Trash2,
    isHere: (path) => path.startsWith("/bin"),
    isMinor: true,
  },
  {
    href: "/settings",
    label: "Settings",
    icon: Settings,
    isHere: (path) => path.startsWith("/settings"),
  },
];
