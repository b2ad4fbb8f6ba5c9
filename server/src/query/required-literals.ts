import { itemAt, literalOf, regexCharacters, repetitionAt } from './regex-items.ts'

/** Shorter texts select too little. */
export const NEEDED_CHARS_MIN = 3

/**
 * Returns texts that every match of a regular expression contains, in some case of their letters, the longest first. None where the syntax is not plain
 * enough to tell.
 */
export function neededTexts(pattern: string, ignoreCase: boolean): readonly string[] {
  const { start, isText } = regexCharacters({ pattern, ignoreCase })
  const texts: string[] = []
  let text = ''
  const end = () => {
    texts.push(text)
    text = ''
  }
  for (let at = start; at < pattern.length; ) {
    const group = pattern[at] === '(' ? groupAt(pattern, at) : undefined
    const source = group ?? itemAt(pattern, at)?.source
    if (source === undefined) return []
    const { length, least, most } = repetitionAt(pattern, at + source.length)
    const literal = group === undefined ? literalOf(source) : undefined
    if (literal === undefined || !isText(literal) || least === 0) end()
    else text += literal
    if (least !== 1 || most !== 1) end()
    at += source.length + length
  }
  end()
  return texts.filter((one) => one.length >= NEEDED_CHARS_MIN).sort((one, other) => other.length - one.length)
}

/** A group up to its bracket, without groups and classes inside. */
const GROUP = /\((?:\?:|(?!\?))(?:\\[^QExpP]|[^\\()[\]])*\)/y

function groupAt(pattern: string, at: number): string | undefined {
  GROUP.lastIndex = at
  return GROUP.exec(pattern)?.[0]
}
