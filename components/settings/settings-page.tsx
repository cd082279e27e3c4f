"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Page } from "@/components/page/page";
import { ThemeSwitch } from "@/components/page/theme-switch";
import { useTrpc } from "@/components/trpc";
import { Panel } from "@/components/ui/panel";
import { AboutSection, type SettingRow } from "./about-section";
import { AuditSection } from "./audit-section";
import { EngineSection } from "./engine-section";
import { NoticesSection } from "./notices-section";
import { ProvidersSection } from "./providers-section";
import { SETTINGS_SECTIONS, type SettingsSection } from "./sections";
import { SignOut } from "./sign-out";
import { StorageSection } from "./storage-section";
import { TokensSection } from "./tokens-section";

/** Everything that is set for this server, and how it looks to this browser. */
export function SettingsPage({ settings }: { settings: readonly SettingRow[] }) {
  const info = useQuery(useTrpc().access.info.queryOptions());
  return (
    <Page title="Settings">
      <div className="grid gap-8 lg:grid-cols-[9rem_minmax(0,48rem)]">
        <nav aria-label="Sections of the settings" className="sticky top-10 self-start max-lg:hidden">
          <ul className="flex flex-col">
            {SETTINGS_SECTIONS.map(({ id, title }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="block rounded-lg px-2.5 py-1.5 text-[13px] text-ink-2 hover:bg-ink/5 hover:text-ink"
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="flex min-w-0 flex-col gap-6">
          <Section id="models">
            <ProvidersSection />
          </Section>
          <Section id="notices">
            <NoticesSection answerTime={info.data?.answer_time} />
          </Section>
          <Section id="tokens">
            <TokensSection apiBase={info.data?.api_base} />
          </Section>
          <Section id="appearance">
            <Panel title="Appearance" description="For this browser." actions={<ThemeSwitch />} />
          </Section>
          {info.data?.password_set ? (
            <Panel
              title="Signed in"
              description="In this browser; signing out asks for the password again."
              actions={<SignOut />}
            />
          ) : null}
          <Section id="engine">
            <EngineSection version={info.data?.version} />
          </Section>
          <Section id="storage">
            <StorageSection />
          </Section>
          <Section id="audit">
            <AuditSection />
          </Section>
          <Section id="about">
            <AboutSection info={info.data} settings={settings} />
          </Section>
        </div>
      </div>
    </Page>
  );
}

/** A part of the page that the command palette leads to. */
function Section({ id, children }: { id: SettingsSection; children: ReactNode }) {
  return (
    <div id={id} className="flex scroll-mt-4 flex-col gap-6">
      {children}
    </div>
  );
}
