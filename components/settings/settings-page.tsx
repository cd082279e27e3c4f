"use client";

import { useQuery } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Variables } from "@/components/forms/variables";
import { Page } from "@/components/page/page";
import { setTheme, useTheme } from "@/components/page/theme";
import { themes } from "@/components/page/themes";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Panel } from "@/components/ui/panel";
import { toast } from "@/components/ui/toasts";
import { AboutSection, type SettingRow } from "./about-section";
import { AuditSection } from "./audit-section";
import { EngineSection } from "./engine-section";
import { NoticesSection } from "./notices-section";
import { ProvidersSection } from "./providers-section";
import { SecretsSection } from "./secrets-section";
import { SETTINGS_SECTIONS, type SettingsSection } from "./sections";
import { StorageSection } from "./storage-section";
import { TokensSection } from "./tokens-section";

/** The settings of this server, and the theme of this browser. */
export function SettingsPage({ settings }: { settings: readonly SettingRow[] }) {
  const info = useQuery(useTrpc().access.info.queryOptions());
  return (
    <Page title="Settings">
      <div className="grid gap-8 lg:grid-cols-[9rem_minmax(0,48rem)]">
        <nav aria-label="Settings sections" className="sticky top-10 self-start max-lg:hidden">
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
          <Section id="secrets">
            <SecretsSection />
          </Section>
          <Section id="variables">
            <Panel
              title="Variables"
              description="Values that all workflows can read, for example as {{vars.NAME}}. Runs in progress keep theirs."
            >
              <Variables workflowId={null} />
            </Panel>
          </Section>
          <Section id="appearance">
            <Panel title="Appearance" description="Applies to this browser." actions={<ThemeSwitch />} />
          </Section>
          {info.data?.password_set ? (
            <Panel
              title="Signed in"
              description="In this browser. After signing out, you need the password to sign in again."
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

/** A part of the page that links can open. */
function Section({ id, children }: { id: SettingsSection; children: ReactNode }) {
  return (
    <div id={id} className="flex scroll-mt-4 flex-col gap-6">
      {children}
    </div>
  );
}

/** Ends the session of this browser or all sessions, then opens the sign-in page. */
function SignOut() {
  const [ending, setEnding] = useState<"here" | "everywhere" | null>(null);

  async function signOut(where: "here" | "everywhere") {
    setEnding(where);
    // A full page load, so that no data of the session stays in memory.
    if (await hasEnded(where)) return window.location.assign("/login");
    setEnding(null);
    toast("Couldn't sign out. Check that the server is running.", { tone: "error" });
  }

  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="ghost"
        pending={ending === "everywhere"}
        disabled={ending === "here"}
        onClick={() => void signOut("everywhere")}
      >
        Sign out everywhere
      </Button>
      <Button
        icon={<LogOut aria-hidden />}
        pending={ending === "here"}
        disabled={ending === "everywhere"}
        onClick={() => void signOut("here")}
      >
        Sign out
      </Button>
    </div>
  );
}

async function hasEnded(where: "here" | "everywhere"): Promise<boolean> {
  try {
    const response = await fetch("/api/session", {
      method: "DELETE",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ everywhere: where === "everywhere" }),
    });
    // An expired session counts as signed out.
    return response.ok || response.status === 401;
  } catch {
    return false;
  }
}

/** Light, dark, or the system's theme. */
function ThemeSwitch() {
  const theme = useTheme();
  return <SegmentedControl label="Theme" options={themes} value={theme} onValueChange={setTheme} />;
}
