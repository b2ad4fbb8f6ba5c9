import { type Marking, type Piece, piecesOf } from './line-text.ts'

/** Marked is text with its marks; where it is bare, only what was searched or looked for is marked. */
export function Marked({ text, marking, isBare = false }: { text: string; marking: Marking; isBare?: boolean }) {
  return piecesOf(text, marking).map((piece, at) => {
    const isShown = !isBare || piece.kind === 'hit' || piece.kind === 'found'
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never change places
    return <PieceOf key={at} piece={isShown ? piece : { ...piece, kind: 'plain' }} />
  })
}

export const PieceOf = ({ piece: { kind, text } }: { piece: Piece }) =>
  kind === 'plain' ? text : <span className={marks[kind]}>{text}</span>

const marks: Record<Piece['kind'], string> = {
  plain: '',
  hit: 'bg-mark rounded-sm',
  found: 'bg-accent text-accent-ink rounded-sm',
  number: 'text-accent',
  quoted: 'text-info',
  id: 'text-soft underline decoration-dotted underline-offset-2',
}
