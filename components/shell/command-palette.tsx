"use client";

import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Command } from "cmdk";
import {
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
import { setTheme } from "@/components/page/theme";
import { SETTINGS_SECTIONS } from "@/components/settings/sections";
import { useTrpc } from "@/components/trpc";
import { Kbd } from "@/components/ui/kbd";
import { places } from "./places";

/** Ctrl+K: go anywhere, do anything that this page offers. */
export function CommandPalette() {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const crews = useQuery(trpc.crews.list.queryOptions());
  const agents = useQuery(trpc.agents.list.queryOptions());
  const tools = useQuery(trpc.tools.names.queryOptions());
  const offered = Object.values(useAllCommands()).flat();
  const sections = [...new Set(offered.map((command) => command.section))];
  const create = useMutation(
    trpc.workflows.create.mutationOptions({
      onSuccess: ({ id }) => {
        void queryClient.invalidateQueries(trpc.workflows.list.queryFilter());
        router.push(`/workflows/${id}`);
      },
    }),
  );
  const go = (href: string) => () => leaveTo(() => router.push(href));
  const item = (
    id: string,
    label: string,
    icon: LucideIcon,
    run: () => void,
    keywords?: string,
    shortcut?: string,
  ) => <Item key={id} value={id} {...{ label, icon, run, keywords, shortcut }} />;

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
                placeholder="Find a page, workflow, role or action…"
                className="h-12 flex-1 bg-transparent text-base outline-none placeholder:text-ink-3 sm:text-sm"
              />
              <Kbd keys="Esc" />
            </div>
            <Command.List className="max-h-[min(60vh,26rem)] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3">
              <Command.Empty className="px-2 py-8 text-center text-sm text-ink-2">
                Nothing found.
              </Command.Empty>
              {sections.map((section) => (
                <Command.Group key={section} heading={section}>
                  {offered
                    .filter((command) => command.section === section)
                    .map((command) =>
                      item(
                        command.id,
                        command.label,
                        Terminal,
                        command.run,
                        command.keywords,
                        command.shortcut,
                      ),
                    )}
                </Command.Group>
              ))}
              <Command.Group heading="Go to">
                {places.map(({ href, label, icon }) => item(`go ${href}`, label, icon, go(href)))}
                {item("go /agents", "Agents", UserRound, go("/agents"))}
              </Command.Group>
              {workflows.data && workflows.data.length > 0 ? (
                <Command.Group heading="Workflows">
                  {workflows.data.map(({ id, name }) =>
                    item(`wf ${id}`, name, Workflow, go(`/workflows/${id}`), name),
                  )}
                </Command.Group>
              ) : null}
              {roles.data && roles.data.length > 0 ? (
                <Command.Group heading="Roles">
                  {roles.data.map(({ role }) =>
                    item(
                      `role ${role.name}`,
                      role.name,
                      UserRound,
                      go(`/roles?role=${encodeURIComponent(role.name)}`),
                    ),
                  )}
                </Command.Group>
              ) : null}
              {crews.data && crews.data.length > 0 ? (
                <Command.Group heading="Crews">
                  {crews.data.map(({ id, name }) =>
                    item(`crew ${id}`, name, Network, go(`/crews?crew=${encodeURIComponent(id)}`)),
                  )}
                </Command.Group>
              ) : null}
              {agents.data && agents.data.length > 0 ? (
                <Command.Group heading="Agents">
                  {agents.data.map(({ id, name }) =>
                    item(`agent ${id}`, name, UserRound, go(`/agents?agent=${encodeURIComponent(id)}`)),
                  )}
                </Command.Group>
              ) : null}
              {tools.data && tools.data.tools.length > 0 ? (
                <Command.Group heading="Tools">
                  {tools.data.tools.map(({ name }) =>
                    item(`tool ${name}`, name, Wrench, go(`/tools?tool=${encodeURIComponent(name)}`)),
                  )}
                </Command.Group>
              ) : null}
              <Command.Group heading="Settings">
                {SETTINGS_SECTIONS.map(({ id, title, keywords }) =>
                  item(`go /settings#${id}`, title, Settings, go(`/settings#${id}`), `settings ${keywords}`),
                )}
              </Command.Group>
              <Command.Group heading="Actions">
                {item(
                  "new workflow",
                  "New workflow",
                  Plus,
                  () => leaveTo(() => create.mutate({})),
                  "create add",
                )}
                {item(
                  "templates",
                  "Templates",
                  LayoutTemplate,
                  go("/templates"),
                  "new workflow begin example",
                )}
                {item("theme light", "Light theme", Sun, () => setTheme("light"), "appearance day")}
                {item("theme dark", "Dark theme", Moon, () => setTheme("dark"), "appearance night")}
                {item("keyboard", "Keyboard help", Keyboard, openHelp, "shortcuts keys", "?")}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Item(props: {
  value: string;
  label: string;
  icon: LucideIcon;
  run: () => void;
  keywords?: string | undefined;
  shortcut?: string | undefined;
}) {
  const { value, label, icon: Icon, run, keywords, shortcut } = props;
  return (
    <Command.Item
      value={value}
      keywords={[label, keywords ?? ""]}
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
