"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { CircleHelp, Ellipsis, Search, Unplug } from "lucide-react";
import { usePathname, useRouter } from "next/navigation";
import { type ReactNode, useEffect } from "react";
import { InboxWatch, useInboxCount } from "@/components/inbox/inbox-count";
import { leaveTo } from "@/components/page/leaving";
import { openHelp, openPalette } from "@/components/page/page-commands";
import { setTheme, useTheme } from "@/components/page/theme";
import { themes } from "@/components/page/themes";
import { useTrpc } from "@/components/trpc";
import { IconButton } from "@/components/ui/icon-button";
import { Kbd } from "@/components/ui/kbd";
import { countLayoutShiftClicks } from "@/components/ui/layout-shift-click";
import { Menu } from "@/components/ui/overlay/menu";
import { Tooltip } from "@/components/ui/overlay/tooltip";
import { PageLink } from "@/components/ui/page-link";
import { Toolbar } from "@/components/ui/toolbar";
import { Glossary } from "./glossary";
import { keepLoadingScripts } from "./late-scripts";
import { DemoNotice, DemoStrip, ServerWatch } from "./notices";
import { places } from "./places";
import { ShellKeys } from "./shell-keys";
import { Emblem, Wordmark } from "./wordmark";

function ThemeMenu() {
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

/** The polling interval of the engine's state, in milliseconds. */
const POLL_INTERVAL_MS = 5_000;

/** Shown on every page while the engine is unavailable, with the consequences for runs. */
export function EngineNotice() {
  const { data } = useQuery({ ...useTrpc().engine.get.queryOptions(), refetchInterval: POLL_INTERVAL_MS });
  // After switching back to local execution, an unavailable engine is expected.
  if (!data?.is_away || data.kind === "embedded") return null;
  return (
    <div
      role="status"
      className="flex shrink-0 items-start gap-2 border-b border-waiting/40 bg-waiting/8 px-4 py-2 text-[13px] md:items-center"
    >
      <Unplug aria-hidden className="size-4 shrink-0 text-waiting max-md:mt-0.5" />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{data.message}</span>
      <PageLink href="/settings#engine" className="shrink-0 text-accent hover:text-accent-hover">
        View engine status
      </PageLink>
    </div>
  );
}

/** The frame of every page: a rail, or a bar at the bottom on phones. The page scrolls inside `main`. */
export function Shell({
  hasEngine,
  children,
}: {
  /** Whether an external engine executes the runs; if not, its state is not polled. */
  hasEngine: boolean;
  children: ReactNode;
}) {
  const path = usePathname();
  useEffect(countLayoutShiftClicks, []);
  useEffect(keepLoadingScripts, []);
  if (path.startsWith("/login")) return children;
  // Beside a canvas, the rail shrinks to icons.
  const isStage = /^\/(workflows|runs)\/./.test(path);
  const isEditor = /^\/workflows\/[^/]+$/.test(path);
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a
        href={isEditor ? "#drawing" : "#main"}
        className="sr-only z-50 rounded-lg bg-raised px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {isEditor ? "Skip to canvas" : "Skip to content"}
      </a>
      <Rail compact={isStage} path={path} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {hasEngine ? <EngineNotice /> : null}
        {isStage ? null : <DemoStrip />}
        <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 overflow-y-auto outline-none">
          <Glossary>{children}</Glossary>
        </main>
      </div>
      <BottomBar path={path} />
      <ServerWatch />
      <InboxWatch />
      <ShellKeys />
    </div>
  );
}

/** Beside the canvas the whole rail is one Tab stop, to reach the canvas quickly. */
function Stops({ isOne, children }: { isOne: boolean; children: ReactNode }) {
  return isOne ? (
    <Toolbar label="Troupe" orientation="vertical" className="flex min-h-0 flex-1 flex-col items-center">
      {children}
    </Toolbar>
  ) : (
    children
  );
}

function Rail({ compact, path }: { compact: boolean; path: string }) {
  return (
    <header
      className={clsx(
        "hidden shrink-0 flex-col border-r border-line bg-bg py-3 md:flex",
        compact ? "w-14 items-center px-2" : "w-56 px-3",
      )}
    >
      <Stops isOne={compact}>
        <PageLink
          href="/"
          aria-label="Troupe home"
          className="mb-4 flex h-9 items-center gap-2.5 rounded-lg px-1.5"
        >
          <Emblem size={compact ? 28 : 24} />
          {compact ? null : <Wordmark className="-mt-0.5" />}
        </PageLink>
        {compact ? (
          <IconButton
            label="Search"
            shortcut="Ctrl K"
            side="right"
            icon={<Search aria-hidden="true" />}
            onClick={openPalette}
            className="mb-2 size-9"
          />
        ) : (
          <button
            type="button"
            onClick={openPalette}
            className="mb-3 flex h-8 items-center gap-2 rounded-lg border border-line bg-surface px-2.5 text-[13px] text-ink-3 hover:border-line-strong hover:text-ink-2"
          >
            <Search aria-hidden="true" className="size-3.5" />
            <span className="flex-1 text-left">Search</span>
            <Kbd keys="mod+k" />
          </button>
        )}
        <nav aria-label="Main" className="flex flex-col gap-0.5">
          {places.map((place) => (
            <RailLink key={place.href} place={place} isHere={place.isHere(path)} compact={compact} />
          ))}
        </nav>
        <div className="flex-1" />
        <DemoNotice compact={compact} />
        <div className={clsx("mt-3 flex gap-1", compact ? "flex-col" : "items-center")}>
          <ThemeMenu />
          <IconButton
            label="Keyboard shortcuts"
            shortcut="?"
            side="right"
            icon={<CircleHelp aria-hidden="true" />}
            onClick={openHelp}
          />
        </div>
      </Stops>
    </header>
  );
}

function RailLink({
  place: { href, label, icon: Icon },
  isHere,
  compact,
}: {
  place: (typeof places)[number];
  isHere: boolean;
  compact: boolean;
}) {
  const link = (
    <PageLink
      href={href}
      aria-current={isHere ? "page" : undefined}
      className={clsx(
        "relative flex items-center gap-2.5 rounded-lg text-sm transition-colors",
        compact ? "size-9 justify-center" : "h-8 px-2",
        isHere ? "bg-ink/7 font-medium text-ink" : "text-ink-2 hover:bg-ink/4 hover:text-ink",
      )}
    >
      <Icon aria-hidden="true" className="size-4.5" strokeWidth={isHere ? 2 : 1.75} />
      <span className={compact ? "sr-only" : "min-w-0 flex-1"}>{label}</span>
      {href === "/inbox" ? (
        <>
          <WaitingLabel />
          <WaitingCount isCorner={compact} />
        </>
      ) : null}
    </PageLink>
  );
  return compact ? (
    <Tooltip content={label} side="right">
      {link}
    </Tooltip>
  ) : (
    link
  );
}

/** The number of open questions, beside the label of the inbox or at the corner of its icon. */
function WaitingCount({ isCorner }: { isCorner: boolean }) {
  const count = useInboxCount();
  if (!count) return null;
  return (
    <span
      aria-hidden="true"
      className={clsx(
        "min-w-4.5 rounded-full bg-waiting px-1 text-center text-[11px] leading-4.5 font-semibold text-bg tabular-nums",
        isCorner && "absolute -top-1 -right-1.5",
      )}
    >
      {count > 99 ? "99+" : count}
    </span>
  );
}

/** The same for screen readers, after the label. */
function WaitingLabel() {
  const count = useInboxCount();
  if (!count) return null;
  return <span className="sr-only"> {count === 1 ? "1 open question" : `${count} open questions`}</span>;
}

function BottomBar({ path }: { path: string }) {
  const router = useRouter();
  const minor = places.filter(({ isMinor }) => isMinor);
  const isMore = minor.some(({ isHere }) => isHere(path));
  const itemClass = (here: boolean) =>
    clsx(
      "flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs",
      here ? "font-medium text-accent" : "text-ink-2",
    );
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {places
        .filter(({ isMinor }) => !isMinor)
        .map(({ href, label, icon: Icon, isHere }) => {
          const here = isHere(path);
          return (
            <PageLink
              key={href}
              href={href}
              aria-current={here ? "page" : undefined}
              className={itemClass(here)}
            >
              <span className="relative">
                <Icon aria-hidden="true" className="size-5" strokeWidth={here ? 2 : 1.75} />
                {href === "/inbox" ? <WaitingCount isCorner /> : null}
              </span>
              {label}
              {href === "/inbox" ? <WaitingLabel /> : null}
            </PageLink>
          );
        })}
      <Menu
        side="top"
        align="end"
        trigger={
          <button type="button" className={itemClass(isMore)}>
            <Ellipsis aria-hidden="true" className="size-5" strokeWidth={isMore ? 2 : 1.75} />
            More
          </button>
        }
        items={minor.map(({ href, label, icon: Icon }) => ({
          label,
          icon: <Icon />,
          onSelect: () => leaveTo(() => router.push(href)),
        }))}
      />
    </nav>
  );
}
