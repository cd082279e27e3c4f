/** What every look of a field is given. Values come from files: each look checks what it can show. */
export interface FieldProps {
  label: string;
  /** The label already stands above, for all to see. */
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}
