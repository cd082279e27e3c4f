"use client";

import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { createContext, Fragment, type ReactNode, useContext } from "react";
import { PageLink } from "@/components/ui/page-link";
import { docHref, headingId } from "@/server/domain/text/doc-links";
import "./markdown.css";

/**
 * Renders Markdown. Untrusted text is inert: HTML shows as text, images as their alt text, links as their URL, so that
 * nothing is fetched and no one is led away. In the docs, links work and headings have ids.
 */
export function Markdown({
  text,
  keepsLines,
  headingsFrom = 3,
  isDoc = false,
}: {
  text: string;
  /** The text is a page of the docs. */
  isDoc?: boolean;
  /** The level of its first headings, one below that of its section. */
  headingsFrom?: 2 | 3;
  /** Keeps line breaks, for texts of models and people. In files, lines are only wrapped. */
  keepsLines?: boolean;
}) {
  return (
    <div className="markdown text-[13px] leading-5 [overflow-wrap:anywhere]">
      <IsDoc value={isDoc}>
        <HeadingsFrom value={headingsFrom}>
          <Blocks tokens={lexer(text, { gfm: true, breaks: keepsLines ?? false })} />
        </HeadingsFrom>
      </IsDoc>
    </div>
  );
}

const IsDoc = createContext(false);
const HeadingsFrom = createContext<2 | 3>(3);

function Heading({ depth, text, children }: { depth: number; text: string; children: ReactNode }) {
  const from = useContext(HeadingsFrom);
  const id = useContext(IsDoc) ? headingId(text) : undefined;
  const Tag = (["h2", "h3", "h4", "h5", "h6"] as const)[from + depth - 3] ?? "h6";
  return (
    <Tag id={id} data-depth={depth}>
      {children}
    </Tag>
  );
}

function Blocks({ tokens }: { tokens: readonly Token[] }) {
  return tokens.map((token, at) => <Block key={`${at} ${token.type}`} token={token} />);
}

/** The token types of the library itself; its types also allow for extensions, which are not used. */
const OWN_TOKENS = {
  blockquote: true,
  br: true,
  checkbox: true,
  code: true,
  codespan: true,
  def: true,
  del: true,
  em: true,
  escape: true,
  heading: true,
  hr: true,
  html: true,
  image: true,
  link: true,
  list: true,
  list_item: true,
  paragraph: true,
  space: true,
  strong: true,
  table: true,
  text: true,
} satisfies Record<MarkedToken["type"], true>;

const isOwn = (token: Token): token is MarkedToken => Object.hasOwn(OWN_TOKENS, token.type);

function Block({ token: known }: { token: Token }): ReactNode {
  if (!isOwn(known)) return <p>{known.raw}</p>;
  switch (known.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      return (
        <Heading depth={Math.min(known.depth, 4)} text={known.text}>
          <Inline tokens={known.tokens} />
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p>
          <Inline tokens={known.tokens} />
        </p>
      );
    case "text":
      return known.tokens ? <Inline tokens={known.tokens} /> : known.text;
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{known.text}</code>
        </pre>
      );
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={known.tokens} />
        </blockquote>
      );
    case "list":
      return <List {...known} />;
    case "table":
      return <Table {...known} />;
    case "hr":
      return <hr />;
    default:
      return <p>{known.raw}</p>;
  }
}

function List({ ordered, start, items }: Tokens.List) {
  const Tag = ordered ? "ol" : "ul";
  return (
    <Tag start={ordered && start !== "" ? start : undefined}>
      {items.map((item, at) => (
        <li key={at}>
          {item.task ? <span aria-hidden>{item.checked ? "☑ " : "☐ "}</span> : null}
          <Blocks tokens={item.tokens.filter(({ type }) => type !== "checkbox")} />
        </li>
      ))}
    </Tag>
  );
}

function Table({ header, rows }: Tokens.Table) {
  return (
    <div className="overflow-x-auto">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} scope="col">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <TableRow key={at} first={row[0]?.tokens[0]}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </TableRow>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** In the docs, a row that starts with a code has it as its id, such as an error code. */
function TableRow({ first, children }: { first: Token | undefined; children: ReactNode }) {
  const id = useContext(IsDoc) && first?.type === "codespan" ? String(first.text) : undefined;
  return <tr id={id}>{children}</tr>;
}

function Anchor({ href, text, children }: { href: string; text: string; children: ReactNode }) {
  const target = docHref(href);
  if (useContext(IsDoc)) {
    if (target === null) return children;
    return (
      <PageLink href={target} className="text-accent hover:text-accent-hover">
        {children}
      </PageLink>
    );
  }
  return text === href ? (
    <span className="text-ink-2 underline decoration-line-strong">{href}</span>
  ) : (
    <>
      {children} <span className="text-ink-3">({href})</span>
    </>
  );
}

function Inline({ tokens }: { tokens: readonly Token[] }) {
  return tokens.map((token, at) => <Fragment key={`${at} ${token.type}`}>{inline(token)}</Fragment>);
}

function inline(token: Token): ReactNode {
  if (!isOwn(token)) return token.raw;
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens ? <Inline tokens={token.tokens} /> : plain(token.text);
    case "escape":
      return token.text;
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Anchor href={token.href} text={token.text}>
          <Inline tokens={token.tokens} />
        </Anchor>
      );
    case "image":
      return <ImageText {...token} />;
    default:
      return token.raw;
  }
}

/** Images of the docs are not shown. */
function ImageText({ text, href }: { text: string; href: string }) {
  if (useContext(IsDoc)) return null;
  return (
    <span className="text-ink-3">
      [image{text ? `: ${text}` : ""}, {href}]
    </span>
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** Undoes the lexer's HTML escaping, since React escapes, too. */
const plain = (text: string) =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
