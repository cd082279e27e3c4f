import {
  Bot,
  Braces,
  Database,
  Flag,
  Globe,
  Layers,
  type LucideIcon,
  Play,
  Split,
  SquareFunction,
  StickyNote,
  TextCursorInput,
  Timer,
  UserRound,
  UserRoundCheck,
  UsersRound,
  Workflow,
  Wrench,
} from "lucide-react";
import type { KindIconName } from "@/server/domain/nodes/define";

// Named one by one: importing icons by a computed name would pull all 1,700 into the bundle.
const ICONS: Record<KindIconName, LucideIcon> = {
  bot: Bot,
  braces: Braces,
  database: Database,
  flag: Flag,
  "function-square": SquareFunction,
  globe: Globe,
  layers: Layers,
  play: Play,
  split: Split,
  "sticky-note": StickyNote,
  "text-cursor-input": TextCursorInput,
  timer: Timer,
  "user-round": UserRound,
  "user-round-check": UserRoundCheck,
  "users-round": UsersRound,
  workflow: Workflow,
  wrench: Wrench,
};

/** The picture of a node kind, by the lucide name that the kind gives. */
export function KindIcon({ name, size = 16 }: { name: KindIconName; size?: number }) {
  const Icon = ICONS[name];
  return <Icon aria-hidden size={size} strokeWidth={1.75} />;
}
