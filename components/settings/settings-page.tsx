"use client";

import { useQuery } from "@tanstack/react-query";
import { Page } from "@/components/page/page";
import { ThemeSwitch } from "@/components/page/theme-switch";
import { useTrpc } from "@/components/trpc";
import { Panel } from "@/components/ui/panel";
import { AboutSection, type SettingRow } from "./about-section";
import { AuditSection } from "./audit-section";
import { NoticesSection } from "./notices-section";
import { ProvidersSection } from "./providers-section";
import { SignOut } from "./sign-out";
import { StorageSection } from "./storage-section";
import { TokensSection } from "./tokens-section";

/** Everything that is set for this server, and how it looks to this browser. */
export function SettingsPage({ settings }: { settings: readonly SettingRow[] }) {
  const info = useQuery(useTrpc().access.info.queryOptions());
  return (
    <Page title="Settings" width="narrow">
      <div className="flex flex-col gap-6">
        <ProvidersSection />
        <NoticesSection />
        <TokensSection apiBase={info.data?.api_base} />
        <Panel title="Appearance" description="For this browser." actions={<ThemeSwitch />} />
        {info.data?.password_set ? (
          <Panel
            title="Signed in"
            description="In this browser; signing out asks for the password again."
            actions={<SignOut />}
          />
        ) : null}
        <StorageSection />
        <AuditSection />
        <AboutSection info={info.data} settings={settings} />
      </div>
    </Page>
  );
}
