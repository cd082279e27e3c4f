import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "./markdown";

const drawn = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

test("Markdown renders headings, lists, tables and code", () => {
  const html = drawn("# A\n\n1. **b**\n2. `c`\n\n| d | e |\n| - | - |\n| 1 | 2 |\n\n```\n<f>\n```");
  for (const part of ["<h3", "<ol", "<strong>b</strong>", "<code>c</code>", "<th", "<pre", "&lt;f&gt;"])
    expect(html).toContain(part);
});

test("HTML in Markdown is shown as text", () => {
  const html = drawn(
    '<script>alert(1)</script>\n\ntext <img src="https://example.org/x.png" onerror="alert(1)">',
  );
  expect(html).not.toMatch(/<script|<img/);
  expect(html).toContain("&lt;script&gt;");
});

test("images and links are shown as text and URLs, and nothing is fetched", () => {
  const html = drawn(
    "![a cat](https://example.org/cat.png) and [a page](javascript:alert(1)) <https://example.org>",
  );
  expect(html).not.toMatch(/<img|<a |href=|src=/);
  expect(html).toContain("image: a cat, https://example.org/cat.png");
  expect(html).toContain("(javascript:alert(1))");
});

test("escaped special characters are shown as they were written", () => {
  expect(drawn('1 < 2 & "x" isn\'t')).toContain("1 &lt; 2 &amp; &quot;x&quot; isn&#x27;t");
});
