/** Whether what is pressed there belongs to a text that somebody is writing. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(input|textarea|select)$/i.test(target.tagName) ||
      !!target.closest(".cm-editor"))
  );
}
