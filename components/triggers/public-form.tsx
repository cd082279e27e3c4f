"use client";

import { useEffect, useRef, useState } from "react";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { toField } from "@/components/forms/schema/input-fields";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { TextField } from "@/components/ui/input/text-field";
import type { RunInputField } from "@/server/domain/graph/run-input";
import type { FormPage } from "@/server/domain/trigger/form-page";
import { forgetSendingId, type Refused, send, sendingId } from "./send-form";

interface Props {
  /** The key in its address. */
  formKey: string;
  initial: FormPage;
}

/** Asks for the password, if the form has one, and then for the answers. */
export function PublicForm({ formKey, initial }: Props) {
  const [page, setPage] = useState(initial);
  // Also kept here, since browsers may block the cookie in a frame.
  const [pass, setPass] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const { title, description, fields } = page;
  return (
    <main className="min-h-dvh bg-stage px-4 py-6 sm:py-12">
      <div className="mx-auto max-w-160 rounded-2xl border border-line bg-surface p-5 shadow-2 sm:p-8">
        <h1 className="font-serif text-3xl text-balance break-words">{title}</h1>
        {description ? (
          <p className="mt-3 whitespace-pre-line break-words text-ink-2">{description}</p>
        ) : null}
        {fields ? (
          <Answers
            key={round}
            {...{ formKey, fields, pass }}
            onLocked={() => setPage({ title })}
            onAgain={() => setRound(round + 1)}
          />
        ) : (
          <PasswordQuestion
            formKey={formKey}
            onPassed={(passed) => {
              setPass(passed.pass);
              setPage(passed.page);
            }}
          />
        )}
      </div>
    </main>
  );
}

interface Passed {
  pass: string;
  page: FormPage;
}

function PasswordQuestion({ formKey, onPassed }: { formKey: string; onPassed: (passed: Passed) => void }) {
  const [password, setPassword] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { form, focusError } = useFocusError();
  const submit = async () => {
    setSending(true);
    const sent = await send(formKey, { password });
    setSending(false);
    if ("answer" in sent) return onPassed(sent.answer as Passed);
    setError(sent.refused.message);
    focusError();
  };
  return (
    <Form ref={form} onSubmit={() => void submit()} className="mt-6 flex flex-col gap-5">
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={200}
        value={password}
        onValueChange={setPassword}
        error={error ? <span role="alert">{error}</span> : undefined}
      />
      <Button
        type="submit"
        variant="primary"
        pending={isSending}
        disabled={password === ""}
        className="self-start"
      >
        Continue
      </Button>
    </Form>
  );
}

interface AnswersProps {
  formKey: string;
  fields: readonly RunInputField[];
  pass: string | null;
  /** The password has changed. */
  onLocked: () => void;
  onAgain: () => void;
}

function Answers({ formKey, fields, pass, onLocked, onAgain }: AnswersProps) {
  const [shown] = useState(() => fields.map(toField));
  const { props, read, setErrors } = useInput(shown);
  const [state, setState] = useState<"open" | "sending" | "received">("open");
  const [notice, setNotice] = useState("");
  const { form, focusError } = useFocusError();
  const refuse = ({ code, message, errors }: Refused) => {
    setState("open");
    if (code === "wrong_password") return onLocked();
    // The next attempt uses a new ID.
    if (code === "key_reused") forgetSendingId(formKey);
    const others = errors.filter(({ key }) => !shown.some((field) => field.key === key));
    setErrors(errors);
    setNotice(
      code === "key_reused"
        ? "Your earlier answers were received. Submit again to send these as well."
        : [message, ...others.map((other) => `${other.key}: ${other.message}`)].join(" "),
    );
    focusError();
  };
  const submit = async () => {
    if (state === "sending") return;
    const input = read();
    setNotice(input ? "" : "Check the fields.");
    if (!input) return focusError();
    setState("sending");
    const sent = await send(formKey, { id: sendingId(formKey), input, pass });
    if ("refused" in sent) return refuse(sent.refused);
    forgetSendingId(formKey);
    setState("received");
  };
  if (state === "received") return <Received onAgain={onAgain} />;
  return (
    <Form ref={form} onSubmit={() => void submit()} className="mt-6 flex min-w-0 flex-col gap-5">
      <InputFields {...props} />
      <p role="alert" tabIndex={-1} className="text-[13px] text-failed empty:hidden">
        {notice}
      </p>
      <Button type="submit" variant="primary" pending={state === "sending"} className="self-start">
        {state === "sending" ? "Sending…" : "Submit"}
      </Button>
    </Form>
  );
}

function Received({ onAgain }: { onAgain: () => void }) {
  return (
    <div className="mt-6 flex flex-col items-start gap-4">
      <p role="status" tabIndex={-1} ref={(text) => text?.focus()} className="outline-none">
        Your answers were received.
      </p>
      <Button onClick={onAgain}>Fill in again</Button>
    </div>
  );
}

const INVALID = '[aria-invalid=true], [data-invalid] :is(button, [tabindex="0"])';

/** After a failure, focuses the first invalid field, or else the message. */
function useFocusError() {
  const form = useRef<HTMLFormElement>(null);
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    if (failures === 0) return;
    const find = (what: string) => form.current?.querySelector<HTMLElement>(what);
    (find(INVALID) ?? find("[role=alert]"))?.focus();
  }, [failures]);
  return { form, focusError: () => setFailures((before) => before + 1) };
}
