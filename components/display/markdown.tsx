"use client";

import { lexer, type MarkedToken, type Token } from "marked";
import { createContext, Fragment, type ReactNode, useContext } from "react";
import "./markdown.css";

/**
 * Markdown to read. Nothing in it acts: markup is shown as text, pictures by their words, links by their address, so
 * that no page is fetched and nobody is led away by what a model or a stranger wrote.
 */
export function Markdown({
  text,
  keepsLines,
  headingsFrom = 3,
}: {
  text: string;
  /** The level of its first headings, one below the heading it stands under. */
  headingsFrom?: 2 | 3;
  /** A line stays a line, as models and people write them; in files a line ends where the sentence allows. */
  keepsLines?: boolean;
}) {
  return (
    <div className="markdown text-[13px] leading-5 [overflow-wrap:anywhere]">
      <HeadingsFrom value={headingsFrom}>
        <Blocks tokens={lexer(text, { gfm: true, breaks: keepsLines ?? false })} />
      </HeadingsFrom>
    </div>
  );
}

const HeadingsFrom = createContext<2 | 3>(3);

function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  const from = useContext(HeadingsFrom);
  const Tag = (["h2", "h3", "h4", "h5", "h6"] as const)[from + depth - 3] ?? "h6";
  return <Tag data-depth={depth}>{children}</Tag>;
}

function Blocks({ tokens }: { tokens: readonly Token[] }) {
  return tokens.map((token, at) => <Block key={`${at} ${token.type}`} token={token} />);
}

/** The library's own kinds of tokens. Its types leave room for those of extensions, of which there are none here. */
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
        <Heading depth={Math.min(known.depth, 4)}>
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
    case "list": {
      const List = known.ordered ? "ol" : "ul";
      return (
        <List start={known.ordered && known.start !== "" ? known.start : undefined}>
          {known.items.map((item, at) => (
            <li key={at}>
              {item.task ? <span aria-hidden>{item.checked ? "☑ " : "☐ "}</span> : null}
              <Blocks tokens={item.tokens.filter(({ type }) => type !== "checkbox")} />
            </li>
          ))}
        </List>
      );
    }
    case "table":
      return (
        <div className="overflow-x-auto">
          <table>
            <thead>
              <tr>
                {known.header.map((cell, at) => (
                  <th key={at} scope="col">
                    <Inline tokens={cell.tokens} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {known.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>
                      <Inline tokens={cell.tokens} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "hr":
      return <hr />;
    default:
      return <p>{known.raw}</p>;
  }
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
      return token.text === token.href ? (
        <span className="text-ink-2 underline decoration-line-strong">{token.href}</span>
      ) : (
        <>
          <Inline tokens={token.tokens} /> <span className="text-ink-3">({token.href})</span>
        </>
      );
    case "image":
      return (
        <span className="text-ink-3">
          [picture{token.text ? `: ${token.text}` : ""}, {token.href}]
        </span>
      );
    default:
      return token.raw;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** The lexer writes five characters as HTML does; React does that itself. */
const plain = (text: string) =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
