import type { ComponentProps } from "react";

export interface FormProps extends Omit<ComponentProps<"form">, "onSubmit"> {
  onSubmit: () => void;
}

/** A form that the page checks and sends itself. */
export function Form({ onSubmit, className = "flex min-w-0 flex-col gap-4", ...rest }: FormProps) {
  return (
    <form
      noValidate
      {...rest}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        // React's events reach a form around a dialog that was opened from it.
        event.stopPropagation();
        onSubmit();
      }}
    />
  );
}
