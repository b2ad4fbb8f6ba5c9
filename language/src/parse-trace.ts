/**
 * Something that can follow at a position. A `short` key is followed by a colon, a `plain` one stands alone. A `glued` value has no blank
 * before it. `words` are literal: AND, NULL, a parenthesis.
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

/** A part of the text that the parser recognized. */
export type SyntaxPiece = { readonly kind: SyntaxKind; readonly position: number; readonly length: number }

/** A connective outside parentheses and not under NOT. The word is empty where AND was left out. */
export type JoinPoint = { readonly word: 'AND' | 'OR' | ''; readonly position: number }

/**
 * Records, on request, what a parser recognized and what it would have accepted at each position. Completion, highlighting and splitting
 * are derived from it, so that they always agree with the parser.
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
