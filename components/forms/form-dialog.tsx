import { type ReactNode, useId, useRef } from "react";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { Dialog, type DialogProps } from "@/components/ui/overlay/dialog";

export interface FormDialogProps extends Pick<DialogProps, "title" | "description" | "size" | "sticky"> {
  /** The label of the button that submits. */
  submit: string;
  icon?: ReactNode;
  /** The label of the button that closes it; "Cancel" if absent. */
  cancel?: string | undefined;
  /** Shows a pending button, and its error below the fields. */
  mutation?: { isPending: boolean; error: unknown } | undefined;
  /** Disables the submit button. */
  isIncomplete?: boolean | undefined;
  /** Overrides the mutation's error. */
  error?: string | null | undefined;
  /** Further buttons, on the left. */
  actions?: ReactNode;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog with one form: Cancel, a submit button, and the last error below the fields. */
export function FormDialog(props: FormDialogProps) {
  const { title, description, size, sticky, mutation, isIncomplete, onSubmit, onClose } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      {...{ title, description, size, sticky }}
      // On a touch screen, a keyboard would cover the form.
      initialFocus={(openedBy) => (openedBy === "touch" ? null : firstControl(form.current))}
      footer={
        <>
          {props.actions}
          <Button onClick={onClose}>{props.cancel ?? "Cancel"}</Button>
          <Button
            type="submit"
            form={id}
            variant="primary"
            icon={props.icon}
            pending={mutation?.isPending}
            disabled={isIncomplete}
          >
            {props.submit}
          </Button>
        </>
      }
    >
      <Form
        ref={form}
        id={id}
        className="flex flex-col gap-4 pt-1"
        onSubmit={() => {
          if (!isIncomplete && !mutation?.isPending) onSubmit();
        }}
      >
        {props.children}
        <ErrorText error={props.error ?? mutation?.error} />
      </Form>
    </Dialog>
  );
}

const firstControl = (form: HTMLElement | null) =>
  form?.querySelector<HTMLElement>(":is(input, textarea, button):not([aria-hidden=true])") ?? null;
