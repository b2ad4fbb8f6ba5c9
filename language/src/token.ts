/** A part of the text. Position and length count UTF-16 units, as browser editors do. */
export type Token = { text: string; position: number; length: number }

/** A key as written. Unquoted names are checked by `plainKey` only where the text needs a key. */
export type NameToken = Token & { quoted: boolean }

/**
 * The right side of an operator. `text` is the spelling without quotes; `quote` is empty for an unquoted value. An `open` one contains an
 * unfilled placeholder, so that it cannot be checked yet.
 */
export type ValueToken = Token & { kind: 'text' | 'number' | 'boolean'; quote: "'" | '"' | ''; open?: boolean }
