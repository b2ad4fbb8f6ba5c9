import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { type ComponentProps, Fragment, type ReactNode } from 'react'
import { safeLink } from './safe-link.ts'

/** What is nested deeper is shown as it was written. */
const DEPTH_MAX = 20
/** The page has the first heading, each step the second, and the words those below, without a gap. */
const HEADING_FIRST = 3

/** Words as Markdown. They become elements of the page and never HTML: a tag within them is text, and a picture is a link to it. */
export function Words({ text }: { text: string }) {
  const tokens = tokensOf(text)
  if (!tokens) return <p className="wrap-anywhere max-w-prose whitespace-pre-wrap">{text}</p>
  return <div className="flex max-w-prose flex-col gap-2 wrap-anywhere">{blocks(withRanks(tokens), 0)}</div>
}

/** Headings with their rank among those of the words in place of their depth: many begin with the second. */
function withRanks(tokens: readonly Token[]): Token[] {
  const depths = [...new Set(tokens.flatMap((token) => (token.type === 'heading' ? [Number(token.depth)] : [])))].sort((a, b) => a - b)
  return tokens.map((token) => (token.type === 'heading' ? { ...token, depth: depths.indexOf(Number(token.depth)) } : token))
}

/** Undefined for words that are nested too deep to be read. */
function tokensOf(text: string): Token[] | undefined {
  try {
    return lexer(text)
  } catch {
    return undefined
  }
}

const each = (tokens: readonly Token[], show: (token: MarkedToken) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
  tokens.map((token, at) => <Fragment key={at}>{show(token as MarkedToken)}</Fragment>)

const blocks = (tokens: readonly Token[], depth: number): ReactNode => each(tokens, (token) => block(token, depth))

function block(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return <Heading rank={token.depth}>{inline(token.tokens, depth)}</Heading>
    case 'paragraph':
      return <p>{inline(token.tokens, depth)}</p>
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-line border-l-2 pl-3 text-soft">{blocks(token.tokens, depth + 1)}</blockquote>
      )
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too
        <pre tabIndex={0} className="overflow-x-auto rounded bg-sunk p-2 font-mono text-xs">
          {token.text}
        </pre>
      )
    case 'list':
      return <List list={token} depth={depth + 1} />
    case 'table':
      return <Table table={token} depth={depth + 1} />
    case 'hr':
      return <hr className="border-line" />
    case 'html':
      return <p className="whitespace-pre-wrap">{token.raw.trimEnd()}</p>
    // The text of a list item, which has no paragraph of its own.
    case 'text':
      return token.tokens ? <span>{inline(token.tokens, depth)}</span> : token.text
    default:
      return inlineOne(token, depth)
  }
}

const inline = (tokens: readonly Token[], depth: number): ReactNode => each(tokens, (token) => inlineOne(token, depth + 1))

function inlineOne(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw
  switch (token.type) {
    case 'strong':
      return <strong className="font-semibold">{inline(token.tokens, depth)}</strong>
    case 'em':
      return <em>{inline(token.tokens, depth)}</em>
    case 'del':
      return <del>{inline(token.tokens, depth)}</del>
    case 'codespan':
      return <code className="rounded bg-sunk px-1 font-mono text-xs">{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <SafeLink href={token.href}>{inline(token.tokens, depth)}</SafeLink>
    case 'image':
      return <SafeLink href={token.href}>{token.text || token.href}</SafeLink>
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? 'done' : 'not done'} className="mr-1" />
    case 'text':
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

/** An address of another kind stays text. */
function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  const address = safeLink(href, location.origin)
  if (address === undefined) return children
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" className="text-accent underline">
      {children}
    </a>
  )
}

function Heading({ rank, children }: { rank: number; children: ReactNode }) {
  const Name = `h${Math.min(6, rank + HEADING_FIRST)}` as 'h3' | 'h4' | 'h5' | 'h6'
  return <Name className={rank === 0 ? 'font-semibold text-lg' : 'font-semibold'}>{children}</Name>
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }) {
  const Name = ordered ? 'ol' : 'ul'
  const props: ComponentProps<'ol'> = ordered && start !== '' && start !== 1 ? { start } : {}
  return (
    <Name {...props} className={`flex flex-col gap-1 pl-5 ${ordered ? 'list-decimal' : 'list-disc'}`}>
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
        <li key={at}>{blocks(item.tokens, depth)}</li>
      ))}
    </Name>
  )
}

function Table({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <table aria-label={header.map(({ text }) => text).join(', ')} className="w-fit text-left">
      <thead>
        <tr>
          {header.map((cell, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells are in column order
            <th key={at} className="border border-line px-2 py-0.5 font-medium">
              {inline(cell.tokens, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
          <tr key={row}>
            {cells.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells are in column order
              <td key={at} className="border border-line px-2 py-0.5">
                {inline(cell.tokens, depth)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
