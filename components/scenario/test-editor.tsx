"use client";

import { type ReactNode, useMemo } from "react";
import { describeExpectation, KINDS, newExpectation } from "@/components/display/describe-expectation";
import { countOf } from "@/components/display/format";
import { FormScopeContext } from "@/components/forms/form-scope";
import { InputFields } from "@/components/forms/schema/input-field";
import { JsonField } from "@/components/forms/schema/json-field";
import { Conflict, useSaveShortcut } from "@/components/library/library-editor";
import { UnsavedGuard } from "@/components/library/unsaved-guard";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";
import { FoldedRow, RowList } from "@/components/ui/row-list";
import { isObject } from "@/server/domain/base/guards";
import { JsonObject } from "@/server/domain/base/values";
import { describeCommand } from "@/server/domain/run/commands/repeated";
import { AnsweringFields, type Part, PinFields, RepeatFields } from "./answering-fields";
import { ExpectationEditor } from "./expectation-fields";
import { answerText, PeopleFields } from "./people-fields";
import { errorsUnder, formOf, scopeOf, type TestDraft, type TestWriting } from "./test-draft";
import { useTestedWorkflow, type WholeTest } from "./use-tests";

/** Asks before unsaved changes are lost. */
export function TestGuard({ writing: { draft, isSaving } }: { writing: TestWriting }) {
  const { name } = draft.content;
  return (
    <UnsavedGuard
      active={draft.isChanged && !draft.isLeaving && !isSaving}
      what={name.trim() ? `“${name.trim()}”` : "the new test"}
      onDiscard={() => {
        draft.leave();
        draft.discard();
      }}
    />
  );
}

export function TestEditor({ saved, writing }: { saved: WholeTest | null; writing: TestWriting }) {
  const { graph } = useTestedWorkflow();
  const { draft, errors, inputErrors, isNew, isSaving, save } = writing;
  const scope = useMemo(() => scopeOf(graph), [graph]);
  const { content, generation } = draft;
  const part: Part = {
    content,
    set: (change) => draft.set((before) => ({ ...before, ...change })),
    errors,
  };
  const wrong = Object.keys(errors).length + inputErrors.length;
  const mayNotSave = !draft.isChanged && !isNew;
  useSaveShortcut(mayNotSave || isSaving ? null : save);
  return (
    <form
      aria-label={isNew ? "New test" : "Test"}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      className="flex min-h-0 flex-1 flex-col"
    >
      {draft.theirs ? <Conflict noun="test" draft={draft} onSubmit={save} /> : null}
      <FormScopeContext.Provider value={scope}>
        <div key={generation} className="flex flex-1 flex-col gap-7 overflow-y-auto px-4 py-5 sm:px-6">
          <TextField
            label="Name"
            value={content.name}
            maxLength={200}
            autoFocus={isNew}
            error={errors.name}
            onValueChange={(name) => part.set({ name })}
          />
          <Group title="Input" about="The workflow's input">
            <Input inputErrors={inputErrors} {...part} />
          </Group>
          <Group title="Models and tools" about="Tests don't call real models or external tools.">
            <AnsweringFields saved={saved} isChanged={draft.isChanged} {...part} />
            <PinFields {...part} />
          </Group>
          <People {...part} />
          <Commands {...part} />
          <Expectations {...part} />
          <Group title="Repetitions">
            <RepeatFields {...part} />
          </Group>
        </div>
      </FormScopeContext.Provider>
      <footer className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-t border-line bg-bg px-4 py-3 sm:px-6">
        <p role="status" className="mr-auto text-[13px] text-failed">
          {wrong > 0 ? `Fix ${countOf(wrong, "problem")} first.` : ""}
        </p>
        {draft.isChanged && !isNew ? (
          <Button variant="ghost" onClick={draft.discard}>
            Discard
          </Button>
        ) : null}
        <Button type="submit" variant="primary" pending={isSaving} disabled={mayNotSave}>
          {isNew ? "Create test" : "Save"}
        </Button>
      </footer>
    </form>
  );
}

function Group({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-3">
      <div>
        <h3 className="text-sm font-semibold">{title}</h3>
        {about ? <p className="text-[13px] text-ink-3">{about}</p> : null}
      </div>
      {children}
    </section>
  );
}

function Input({ inputErrors, content, set, errors }: Part & Pick<TestWriting, "inputErrors">) {
  const { graph } = useTestedWorkflow();
  const fields = formOf(graph);
  const hasOthers = Object.keys(content.others).length > 0;
  const error = inputErrors.length === 0 ? errors.input : undefined;
  return (
    <>
      <InputFields
        compact
        fields={fields}
        errors={inputErrors}
        values={content.values}
        onChange={(values) => set({ values })}
      />
      {hasOthers || fields.length === 0 ? (
        <JsonField
          label={fields.length === 0 ? "Values" : "Extra values"}
          hint="JSON, for keys that aren't in the workflow's form"
          value={content.others}
          check={(json) => (isObject(json) ? null : "Enter a JSON object { … }.")}
          onChange={(next) => {
            const read = JsonObject.safeParse(next);
            set({ others: read.success ? read.data : {} });
          }}
        />
      ) : null}
      <ErrorText error={error} />
    </>
  );
}

function People({ content: { people }, set, errors }: Part) {
  const { graph } = useTestedWorkflow();
  return (
    <Group title="People's answers" about="Each answer is used once, for the first matching question.">
      <RowList
        label="People's answers"
        hideLabel
        plain
        items={people}
        addLabel="Add an answer"
        newItem={(): TestDraft["people"][number] => ({ answer: "" })}
        onItemsChange={(next) => set({ people: next })}
        removeLabel={(_, at) => `Remove answer ${at + 1}`}
      >
        {(answer, at, remove, setAnswer) => (
          <Row
            label={`Answer ${at + 1}`}
            summary={answerText(answer, graph)}
            remove={remove}
            error={errors[`people.${at}`]}
            isWrong={answer.answer === ""}
          >
            <PeopleFields answer={answer} errors={errorsUnder(errors, `people.${at}`)} onChange={setAnswer} />
          </Row>
        )}
      </RowList>
    </Group>
  );
}

/** Commands of the run that the test was kept from. They can be removed, not added. */
function Commands({ content: { commands }, set, errors }: Part) {
  const { graph } = useTestedWorkflow();
  if (commands.length === 0) return null;
  return (
    <Group
      title="Interventions"
      about="Repeated at the same points. To change them, intervene in a new run and save it as a test."
    >
      <ol className="flex flex-col gap-1.5">
        {commands.map((command, at) => (
          <li key={at} className="rounded-lg border border-line px-3 py-2 text-[13px]">
            <p className="[overflow-wrap:anywhere]">{describeCommand(command, graph)}</p>
            <ErrorText error={errors[`commands.${at}`]} />
          </li>
        ))}
      </ol>
      <Button className="self-start" onClick={() => set({ commands: [] })}>
        Remove all
      </Button>
    </Group>
  );
}

function Expectations({ content: { expect }, set, errors }: Part) {
  const { graph } = useTestedWorkflow();
  return (
    <Group
      title="Expectations"
      about={expect.length === 0 ? "No expectations: the run only has to complete." : "All must pass."}
    >
      <RowList
        label="Expectations"
        hideLabel
        plain
        items={expect}
        addLabel="Add an expectation"
        newItem={() => newExpectation("text", graph)}
        onItemsChange={(next) => set({ expect: next })}
        removeLabel={(_, at) => `Remove expectation ${at + 1}`}
      >
        {(expectation, at, remove, setExpectation) => (
          <Row
            label={`Expectation ${at + 1}`}
            summary={
              <>
                <span className="shrink-0 text-ink-3">{KINDS[expectation.kind].label}</span>
                <span className="min-w-0 truncate">{describeExpectation(expectation, graph)}</span>
              </>
            }
            remove={remove}
            error={errors[`expect.${at}`]}
            isWrong={isEmpty(expectation)}
          >
            <ExpectationEditor
              graph={graph}
              expectation={expectation}
              errors={errorsUnder(errors, `expect.${at}`)}
              onChange={setExpectation}
            />
          </Row>
        )}
      </RowList>
    </Group>
  );
}

/** Just added: its row starts open. */
const isEmpty = (expectation: TestDraft["expect"][number]): boolean =>
  (expectation.kind === "text" && expectation.key === "") ||
  (expectation.kind === "judge" && expectation.rubric === "") ||
  (expectation.kind === "path" && expectation.nodes.length === 0) ||
  (expectation.kind === "state" && expectation.when === "");

function Row({
  label,
  summary,
  remove,
  error,
  isWrong,
  children,
}: {
  label: string;
  summary: ReactNode;
  remove: ReactNode;
  error: string | undefined;
  isWrong: boolean;
  children: ReactNode;
}) {
  return (
    <>
      <FoldedRow label={label} summary={summary} remove={remove} isOpenAtFirst={isWrong}>
        {children}
      </FoldedRow>
      <ErrorText error={error} />
    </>
  );
}
