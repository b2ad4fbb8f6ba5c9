/**
 * An Expected is something that can stand at a place of a text. A `short` key is followed by a colon, a `plain` one stands alone;
 * a `glued` value comes without a blank before it. `words` are what is written as it stands: AND, NULL, a parenthesis.
 */
export type ExpectedSyntax =
  | { readonly kind: 'key'; readonly style: 'any' | 'short' | 'plain' }
  | { readonly kind: 'text' }
  | { readonly kind: 'everything' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'operator'; readonly words: readonly string[] }
  | { readonly kind: 'value'; readonly key: string; readonly operator: string; readonly glued?: boolean }
  | { readonly kind: 'pattern'; readonly key: string; readonly operator: string }
  | { readonly kind: 'function' }
  | { readonly kind: 'number' }
  | { readonly kind: 'name' }

export type SyntaxKind = 'key' | 'operator' | 'value' | 'word' | 'text' | 'function'

/** A Piece is a stretch of a text that a parser has taken for something. */
export type SyntaxPiece = { readonly kind: SyntaxKind; readonly position: number; readonly length: number }

/** A Joint is where two parts meet that stand in no parentheses and behind no NOT; the word is empty where AND was left out. */
export type JoinPoint = { readonly word: 'AND' | 'OR' | ''; readonly position: number }

/**
 * Notes are what a parser writes down on its way through a text, when it is asked to: what it took, and at every place what it would
 * have taken there. Completion, colours and cuts are made of them, so that they never know another language than the parser.
 */
export class ParseTrace {
  readonly expected: (ExpectedSyntax & { readonly position: number })[] = []
  readonly pieces: SyntaxPiece[] = []
  readonly joinPoints: JoinPoint[] = []

  expect(position: number, what: ExpectedSyntax): void {
    this.expected.push({ ...what, position })
  }

  record(kind: SyntaxKind, { position, length }: { position: number; length: number }): void {
    this.pieces.push({ kind, position, length })
  }
}
