import type { ComponentProps } from "react";

export interface FormProps extends Omit<ComponentProps<"form">, "onSubmit"> {
  onSubmit: () => void;
}

/** A form that the page validates and sends itself. */
export function Form({ onSubmit, className = "flex min-w-0 flex-col gap-4", ...rest }: FormProps) {
  return (
    <form
      noValidate
      {...rest}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        // React events bubble from dialogs to the form that opened them.
        event.stopPropagation();
        onSubmit();
      }}
    />
  );
}
