import type { Sample } from "./define";

export const invoiceCheck: Sample = {
  input: {
    invoice:
      "Copyhaus Ltd, invoice 2026-131: 2 office chairs, net 400.00 EUR, VAT 20% 80.00 EUR, total 840.00 EUR, due 15 July 2026",
  },
  open: ["number", "difference", "comment"],
  answers: [
    {
      role: "InvoiceReader",
      phrases: ["Read this invoice"],
      gives: {
        supplier: "Copyhaus Ltd",
        number: "2026-131",
        net: 400,
        vat_percent: 20,
        total: 840,
        due: "2026-07-15",
      },
    },
    {
      role: "AccountsClerk",
      phrases: ["that we don't pay invoice"],
      gives: `Subject: Your invoice 2026-131

Dear Copyhaus team,

we can't pay invoice 2026-131 as it is. It shows 400.00 EUR net and 20% VAT, which makes 480.00 EUR. The total says 840.00 EUR, 360.00 EUR more.

Please send us a corrected invoice.

Kind regards
Accounting`,
    },
  ],
};

export const invoiceCheckSmall: Sample = {
  input: {
    invoice:
      "Copyhaus Ltd, invoice 2026-118: 5 boxes of paper, net 90.00 EUR, VAT 20% 18.00 EUR, total 108.00 EUR, due 30 June 2026",
  },
  answers: [
    {
      role: "InvoiceReader",
      phrases: ["Read this invoice"],
      gives: {
        supplier: "Copyhaus Ltd",
        number: "2026-118",
        net: 90,
        vat_percent: 20,
        total: 108,
        due: "2026-06-30",
      },
    },
  ],
};
