import { type FormEvent, type ReactNode, useId } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

/** On a phone it stands below what is seen. */
const intoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: "nearest" });

/** Asks for what a command to a run says, and sends it; why the server refuses stands below what was entered. */
export function CommandDialog({
  title,
  description,
  send,
  icon,
  isPending,
  error,
  sticky = false,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  description: string;
  /** What the button says that sends it. */
  send: string;
  icon: ReactNode;
  isPending: boolean;
  error: string | null;
  /** A click beside it does not close it: something was written. */
  sticky?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const form = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      sticky={sticky}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" icon={icon} pending={isPending}>
            {send}
          </Button>
        </>
      }
    >
      <form id={form} noValidate onSubmit={submit} className="flex flex-col gap-4 pt-1">
        {children}
        {error ? (
          <p ref={intoView} role="alert" className="text-[13px] text-failed">
            {error}
          </p>
        ) : null}
      </form>
    </Dialog>
  );
}
