import clsx from "clsx";
import Link from "next/link";

const TABS = [
  { key: "crews", href: "/crews", label: "Crews" },
  { key: "agents", href: "/agents", label: "Agents" },
] as const;

/** The two lists of one place: crews, and the single agents that they are made of. */
export function CrewTabs({ current }: { current: (typeof TABS)[number]["key"] }) {
  return (
    <nav aria-label="Crews and agents" className="flex gap-4 border-b border-line">
      {TABS.map(({ key, href, label }) => (
        <Link
          key={key}
          href={href}
          aria-current={key === current ? "page" : undefined}
          className={clsx(
            "-mb-px inline-flex h-9 items-center border-b-2 text-[13px] font-medium",
            key === current ? "border-accent text-ink" : "border-transparent text-ink-2 hover:text-ink",
          )}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
