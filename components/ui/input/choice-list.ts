/** How the list of a field lies over the page; given to the positioner of Base UI's combobox and autocomplete alike. */
export const OVER_THE_PAGE = {
  // Here and not around it: what is around may stay in the page after the list was closed.
  role: "region",
  "aria-label": "Choices",
  className: "z-[60] outline-none",
  sideOffset: 4,
  align: "start",
} as const;
