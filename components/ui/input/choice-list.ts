/** The classes of the popup, for the positioners of Base UI's combobox and autocomplete. */
export const OVER_THE_PAGE = {
  // Not on the element around it, which may stay in the page after the list closes.
  role: "region",
  "aria-label": "Options",
  className: "z-[60] outline-none",
  sideOffset: 4,
  align: "start",
} as const;
