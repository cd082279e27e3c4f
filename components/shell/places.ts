import {
  BookOpen,
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
  /** On phones it is in the More menu. */
  isMinor?: boolean;
  /** What other products call it, for the command palette. */
  keywords?: string;
}[] = [
  {
    href: "/",
    label: "Workflows",
    keywords: "flows automations scenarios",
    icon: Workflow,
    isHere: (path) => path === "/" || path.startsWith("/workflows") || path.startsWith("/templates"),
  },
  {
    href: "/runs",
    label: "Runs",
    keywords: "executions history traces logs threads",
    icon: History,
    isHere: (path) => path.startsWith("/runs"),
  },
  {
    href: "/inbox",
    label: "Inbox",
    keywords: "approvals interrupts human in the loop tasks",
    icon: Inbox,
    isHere: (path) => path.startsWith("/inbox"),
  },
  {
    href: "/roles",
    label: "Roles",
    keywords: "personas assistants prompts",
    icon: UsersRound,
    isHere: (path) => path.startsWith("/roles"),
  },
  {
    href: "/crews",
    label: "Crews",
    keywords: "teams agents swarm group chat",
    icon: Network,
    isHere: (path) => path.startsWith("/crews") || path.startsWith("/agents"),
    isMinor: true,
  },
  {
    href: "/tools",
    label: "Tools",
    keywords: "functions integrations connections credentials mcp skills",
    icon: Wrench,
    isHere: (path) => path.startsWith("/tools"),
    isMinor: true,
  },
  {
    href: "/memory",
    label: "Memory",
    keywords: "knowledge facts store",
    icon: Brain,
    isHere: (path) => path.startsWith("/memory"),
    isMinor: true,
  },
  {
    href: "/bin",
    label: "Trash",
    keywords: "trash deleted archive restore",
    icon: Trash2,
    isHere: (path) => path.startsWith("/bin"),
    isMinor: true,
  },
  {
    href: "/docs",
    label: "Docs",
    keywords: "help manual guide reference",
    icon: BookOpen,
    isHere: (path) => path.startsWith("/docs"),
    isMinor: true,
  },
  {
    href: "/settings",
    label: "Settings",
    icon: Settings,
    isHere: (path) => path.startsWith("/settings"),
  },
];
