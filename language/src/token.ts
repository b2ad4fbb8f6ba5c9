/** A Token is a piece of the text; position and length count UTF-16 units, as browser editors do. */
export type Token = { text: string; position: number; length: number }

/** A Name is a key as written: bare names are checked by `plainKey` only when the text needs a key there. */
export type NameToken = Token & { quoted: boolean }

/**
 * A Value is the right side of an operator. `text` is the spelling as received, without quotes; `quote` is empty for a bare value.
 * An `open` one waits for the argument of a template, so that what it means cannot be checked yet.
 */
export type ValueToken = Token & { kind: 'text' | 'number' | 'boolean'; quote: "'" | '"' | ''; open?: boolean }
