"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Mail, PencilLine, Plus, Trash2, TriangleAlert, Webhook } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { countOf } from "@/components/display/format";
import { type Answers, toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Switch } from "@/components/ui/input/switch";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { EmailDialog, WebhookDialog } from "./notices-dialogs";
import { TestResult } from "./test-result";

type Notices = Answers["notices"]["get"];
type Channel = Notices["troubles"][number]["channel"];

/** How Troupe notifies people outside the app that a question waits. */
export function NoticesSection({
  answerTime,
}: {
  /** The default time to answer a question. */
  answerTime?: { hours: number; is_set: boolean } | undefined;
}) {
  const trpc = useTrpc();
  const refresh = useInvalidate("notices", "audit");
  const notices = useQuery(trpc.notices.get.queryOptions());
  const switchWebhook = useMutation(trpc.notices.saveWebhook.mutationOptions({ onSettled: refresh }));
  const switchEmail = useMutation(trpc.notices.saveEmail.mutationOptions({ onSettled: refresh }));
  const { webhook, email, troubles } = notices.data ?? { webhook: null, email: null, troubles: [] };
  const editing = useDialog((close, channel: Channel) => {
    const onClose = () => {
      close();
      void refresh();
    };
    return channel === "webhook" ? (
      <WebhookDialog isNew={!webhook} onClose={onClose} />
    ) : (
      <EmailDialog saved={email} onClose={onClose} />
    );
  });
  return (
    <Panel
      flush
      title="Notifications"
      description="Send a link by webhook or email when a question needs an answer. Question details are never included."
    >
      {notices.error ? (
        <p className="p-4 text-[13px] text-failed">{toApiError(notices.error).message}</p>
      ) : null}
      <ul aria-label="Notifications" className="divide-y divide-line">
        <ChannelRow
          channel="webhook"
          icon={<Webhook aria-hidden />}
          name="Webhook"
          description={webhook ? `Signed POST to ${webhook.host}` : "Posts notifications to a URL"}
          isOn={webhook?.is_on ?? null}
          isSwitching={switchWebhook.isPending}
          onSwitch={(is_on) => switchWebhook.mutate({ is_on })}
          onEdit={() => editing.open("webhook")}
          onRemoved={refresh}
        />
        <ChannelRow
          channel="email"
          icon={<Mail aria-hidden />}
          name="Email"
          description={
            email
              ? `To ${email.to.join(", ")} via ${email.host}:${email.port}`
              : "Sends notifications by email (SMTP)"
          }
          isOn={email?.is_on ?? null}
          isSwitching={switchEmail.isPending}
          onSwitch={(is_on) => {
            if (!email) return;
            const { has_password: _kept, ...server } = email;
            switchEmail.mutate({ ...server, is_on });
          }}
          onEdit={() => editing.open("email")}
          onRemoved={refresh}
        />
      </ul>
      {answerTime ? (
        <p className="border-t border-line px-4 py-2.5 text-[13px] text-ink-2">
          People have <strong className="font-medium text-ink">{inDays(answerTime.hours)}</strong> to answer,
          with a reminder halfway, unless the question sets its own deadline.{" "}
          {answerTime.is_set ? "Set by" : "Change it with"}{" "}
          <code className="font-mono text-xs">TROUPE_ANSWER_HOURS</code>.
        </p>
      ) : null}
      {troubles.length > 0 ? <UndeliveredNotices troubles={troubles} /> : null}
      {editing.dialog}
    </Panel>
  );
}

const inDays = (hours: number) =>
  hours >= 48 && hours % 24 === 0 ? countOf(hours / 24, "day") : countOf(hours, "hour");

function ChannelRow({
  channel,
  icon,
  name,
  description,
  isOn,
  isSwitching,
  onSwitch,
  onEdit,
  onRemoved,
}: {
  channel: Channel;
  icon: ReactNode;
  name: string;
  description: string;
  /** Null if it is not set up. */
  isOn: boolean | null;
  isSwitching: boolean;
  onSwitch: (isOn: boolean) => void;
  onEdit: () => void;
  onRemoved: () => void;
}) {
  const test = useMutation(useTrpc().notices.test.mutationOptions());
  const removal = useRemoval(channel, () => {
    test.reset();
    onRemoved();
  });
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span aria-hidden className="text-ink-3 [&>svg]:size-4.5">
          {icon}
        </span>
        <div className="min-w-0 flex-1 basis-52">
          <p className="font-medium">{name}</p>
          <p className="text-[13px] text-ink-2 [overflow-wrap:anywhere]">{description}</p>
        </div>
        {isOn === null ? (
          <Button size="sm" icon={<Plus aria-hidden />} onClick={onEdit}>
            Set up<span className="sr-only"> {name} notifications</span>
          </Button>
        ) : (
          <>
            <Switch
              label={`${name} notifications`}
              hideLabel
              checked={isOn}
              disabled={isSwitching}
              onCheckedChange={onSwitch}
            />
            <Button
              size="sm"
              aria-label={`Test ${name}`}
              pending={test.isPending}
              onClick={() => test.mutate({ channel })}
            >
              Test
            </Button>
            <MoreMenu
              label={`Actions for ${name}`}
              size="sm"
              items={[
                { label: "Edit", icon: <PencilLine />, onSelect: onEdit },
                "separator",
                { label: "Remove", icon: <Trash2 />, danger: true, onSelect: removal.open },
              ]}
            />
          </>
        )}
      </div>
      <TestResult test={test} />
      {removal.dialog}
    </li>
  );
}

function useRemoval(channel: Channel, onSettled: () => void) {
  const notices = `${channel === "email" ? "email" : "webhook"} notifications`;
  const remove = useMutation(
    useTrpc().notices.remove.mutationOptions({ onSuccess: () => toast(`Removed ${notices}`), onSettled }),
  );
  return useConfirm({
    danger: true,
    title: `Remove ${notices}?`,
    description: "Pending notifications are discarded.",
    confirm: "Remove",
    onConfirm: () => remove.mutateAsync({ channel }),
  });
}

/** Notices that were not delivered, and whether Troupe tries again. */
function UndeliveredNotices({ troubles }: Pick<Notices, "troubles">) {
  return (
    <section aria-labelledby="undelivered" className="border-t border-line bg-waiting/6 px-4 py-3">
      <h3 id="undelivered" className="mb-1 flex items-center gap-2 text-[13px] font-semibold">
        <TriangleAlert aria-hidden className="size-4 text-waiting" />
        {troubles.length === 1 ? "1 failed delivery" : `${troubles.length} failed deliveries`}
      </h3>
      <ul className="flex flex-col gap-1.5">
        {troubles.map(
          ({ channel, state, attempts, created_at, fault, run_id, workflow_id, workflow_name }) => (
            <li key={`${channel} ${run_id} ${created_at}`} className="text-[13px] [overflow-wrap:anywhere]">
              <Link
                href={`/workflows/${workflow_id ?? "-"}/runs/${run_id}`}
                className="font-medium text-accent hover:text-accent-hover"
              >
                {workflow_name || "Workflow"}
              </Link>{" "}
              by {channel}: {fault}{" "}
              <span className="text-ink-3">
                {state === "waiting" ? "Retrying." : `Gave up after ${countOf(attempts, "attempt")}.`}{" "}
                <TimeText at={created_at} />
              </span>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}
