import { type Highlights, matchesOf, piecesOf, type TextPiece } from './line-text.ts'

/** Highlights matches, numbers, ids and quoted text, or with `onlyMatches` only the matches of the query and of the find bar. */
export function HighlightedText({
  text,
  highlights,
  onlyMatches = false,
}: {
  text: string
  highlights: Highlights
  onlyMatches?: boolean
}) {
  const pieces = onlyMatches ? matchesOf(text, highlights) : piecesOf(text, highlights)
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line never change order
  return pieces.map((piece, at) => <PieceText key={at} piece={piece} />)
}

export const PieceText = ({ piece: { kind, text } }: { piece: TextPiece }) =>
  kind === 'plain' ? text : <span className={pieceStyles[kind]}>{text}</span>

const pieceStyles: Record<TextPiece['kind'], string> = {
  plain: '',
  hit: 'bg-mark rounded-sm',
  found: 'bg-accent text-accent-ink rounded-sm',
  number: 'text-accent',
  quoted: 'text-info',
  id: 'text-soft underline decoration-dotted underline-offset-2',
}
