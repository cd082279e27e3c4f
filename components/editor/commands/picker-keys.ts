import type { UiStore } from "@/components/editor/ui-store";

/** Until the picker has the keyboard, what is typed belongs to it: letters that come at once are its search, no commands. */
export function catchPickerKeys(ui: UiStore) {
  const type = (change: (text: string) => string) =>
    ui.setState(({ picker }) => (picker ? { picker: { ...picker, typed: change(picker.typed ?? "") } } : {}));
  const onKeyDown = (event: KeyboardEvent) => {
    if (document.activeElement?.closest("[data-node-picker]")) return stop();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") ui.setState({ picker: null });
    else if (event.key === "Backspace") type((text) => text.slice(0, -1));
    else if (event.key.length === 1) type((text) => text + event.key);
    event.preventDefault();
    event.stopPropagation();
  };
  const unsubscribe = ui.subscribe(({ picker }) => {
    if (picker === null) stop();
  });
  const stop = () => {
    window.removeEventListener("keydown", onKeyDown, { capture: true });
    unsubscribe();
  };
  window.addEventListener("keydown", onKeyDown, { capture: true });
}
