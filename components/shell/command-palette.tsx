"use client";

import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Command, useCommandState } from "cmdk";
import {
  BookOpen,
  Keyboard,
  LayoutTemplate,
  type LucideIcon,
  Moon,
  Network,
  Plus,
  Search,
  Settings,
  Sun,
  Terminal,
  UserRound,
  Workflow,
  Wrench,
} from "lucide-react";
import { useRouter } from "next/navigation";
import { leaveTo } from "@/components/page/leaving";
import { closeShellDialog, openHelp, useAllCommands } from "@/components/page/page-commands";
import { synonymsOf } from "@/components/page/synonyms";
import { setTheme } from "@/components/page/theme";
import { SETTINGS_SECTIONS } from "@/components/settings/sections";
import { useTrpc } from "@/components/trpc";
import { Kbd } from "@/components/ui/kbd";
import { places } from "./places";

interface Item {
  value: string;
  label: string;
  icon: LucideIcon;
  run: () => void;
  keywords?: string | undefined;
  shortcut?: string | undefined;
}

interface Group {
  heading: string;
  items: Item[];
}

function useLink() {
  const router = useRouter();
  return (href: string) => ({ value: `go ${href}`, run: () => leaveTo(() => router.push(href)) });
}

function useGroups(): Group[] {
  const linkTo = useLink();
  const offered = Object.values(useAllCommands()).flat();
  const sections = [...new Set(offered.map((command) => command.section))];
  const groups = [
    ...sections.map((section) => ({
      heading: section,
      items: offered
        .filter((command) => command.section === section)
        .map((command) => ({ ...command, value: command.id, icon: Terminal })),
    })),
    {
      heading: "Go to",
      items: [
        ...places.map(({ href, label, icon, keywords }) => ({ ...linkTo(href), label, icon, keywords })),
        { ...linkTo("/agents"), label: "Agents", icon: UserRound },
      ],
    },
    ...useLibraryGroups(),
    {
      heading: "Settings",
      items: SETTINGS_SECTIONS.map(({ id, title, keywords }) => ({
        ...linkTo(`/settings#${id}`),
        label: title,
        icon: Settings,
        keywords: `settings ${keywords}`,
      })),
    },
    { heading: "Actions", items: useActions() },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

/** Workflows and everything in the library, by kind. */
function useLibraryGroups(): Group[] {
  const trpc = useTrpc();
  const linkTo = useLink();
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const crews = useQuery(trpc.crews.list.queryOptions());
  const agents = useQuery(trpc.agents.list.queryOptions());
  const tools = useQuery(trpc.tools.names.queryOptions());
  const named = (kind: string, icon: LucideIcon, rows: readonly { id: string; name: string }[] | undefined) =>
    (rows ?? []).map(({ id, name }) => ({
      ...linkTo(`/${kind}s?${kind}=${encodeURIComponent(id)}`),
      value: `${kind} ${id}`,
      label: name,
      icon,
    }));
  return [
    {
      heading: "Workflows",
      items: (workflows.data ?? []).map(({ id, name }) => ({
        ...linkTo(`/workflows/${id}`),
        value: `wf ${id}`,
        label: name,
        icon: Workflow,
      })),
    },
    {
      heading: "Roles",
      items: named(
        "role",
        UserRound,
        roles.data?.map(({ role: { name } }) => ({ id: name, name })),
      ),
    },
    { heading: "Crews", items: named("crew", Network, crews.data) },
    { heading: "Agents", items: named("agent", UserRound, agents.data) },
    {
      heading: "Tools",
      items: named(
        "tool",
        Wrench,
        tools.data?.tools.map(({ name }) => ({ id: name, name })),
      ),
    },
  ];
}

function useActions(): Item[] {
  const trpc = useTrpc();
  const router = useRouter();
  const linkTo = useLink();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.workflows.create.mutationOptions({
      onSuccess: ({ id }) => {
        void queryClient.invalidateQueries(trpc.workflows.list.queryFilter());
        router.push(`/workflows/${id}`);
      },
    }),
  );
  return [
    {
      value: "new workflow",
      label: "New workflow",
      icon: Plus,
      run: () => leaveTo(() => create.mutate({})),
      keywords: "create add",
    },
    {
      ...linkTo("/templates"),
      value: "templates",
      label: "Templates",
      icon: LayoutTemplate,
      keywords: "new workflow begin example",
    },
    themeItem("light", Sun, "day"),
    themeItem("dark", Moon, "night"),
    {
      value: "keyboard",
      label: "Keyboard shortcuts",
      icon: Keyboard,
      run: openHelp,
      keywords: "shortcuts keys",
      shortcut: "?",
    },
  ];
}

const themeItem = (theme: "light" | "dark", icon: LucideIcon, word: string): Item => ({
  value: `theme ${theme}`,
  label: theme === "light" ? "Light theme" : "Dark theme",
  icon,
  run: () => setTheme(theme),
  keywords: `appearance ${word}`,
});

/** Ctrl+K: go anywhere, do anything that this page offers. */
export function CommandPalette() {
  const groups = useGroups();
  return (
    <Dialog.Root open onOpenChange={closeShellDialog}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-50 bg-[oklch(0.2_0.03_330/0.25)] dark:bg-black/50" />
        <Dialog.Popup
          aria-label="Command palette"
          className="fixed top-[12vh] left-1/2 z-50 w-[min(40rem,calc(100vw-1rem))] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-3 outline-none"
        >
          <Command label="Command palette" loop>
            <div className="flex items-center gap-3 border-b border-line px-4">
              <Search aria-hidden="true" className="size-4 text-ink-3" />
              <Command.Input
                autoFocus
                placeholder="Search pages, workflows, roles, actions…"
                className="h-12 flex-1 bg-transparent text-base outline-none placeholder:text-ink-3 sm:text-sm"
              />
              <Kbd keys="Esc" />
            </div>
            <Command.List className="max-h-[min(60vh,26rem)] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3">
              <Command.Empty className="px-2 py-8 text-center text-sm text-ink-2">No results</Command.Empty>
              {groups.map(({ heading, items }) => (
                <Command.Group key={heading} heading={heading}>
                  {items.map((item) => (
                    <Row key={item.value} {...item} />
                  ))}
                </Command.Group>
              ))}
              <DocsGroup />
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The headings of the docs, loaded with the first search. */
function DocsGroup() {
  const router = useRouter();
  const isSearching = useCommandState(({ search }) => search.trim().length > 1);
  const headings = useQuery({
    ...useTrpc().docs.headings.queryOptions(),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isSearching,
  });
  if (!isSearching || !headings.data) return null;
  return (
    <Command.Group heading="Docs">
      {headings.data.map(({ title, heading, href }) => (
        <Row
          key={href}
          value={`docs ${href}`}
          label={`${title}: ${heading}`}
          icon={BookOpen}
          run={() => leaveTo(() => router.push(href))}
        />
      ))}
    </Command.Group>
  );
}

function Row({ value, label, icon: Icon, run, keywords, shortcut }: Item) {
  return (
    <Command.Item
      value={value}
      keywords={[label, keywords ?? "", synonymsOf(label)]}
      onSelect={() => {
        closeShellDialog();
        run();
      }}
      className="flex cursor-default items-center gap-3 rounded-lg px-2 py-2 text-sm data-[selected=true]:bg-ink/6 pointer-coarse:py-3"
    >
      <Icon aria-hidden="true" className="size-4 shrink-0 text-ink-3" strokeWidth={1.75} />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {shortcut ? <Kbd keys={shortcut} /> : null}
    </Command.Item>
  );
}
