/** Shorter texts select too little. */
const CHARS_MIN = 3
/** One character of a plain text, an escaped sign, or a class of characters that stands for exactly one. */
const ITEM = /\\[^a-zA-Z0-9]|\\[dwsDWSbBtnrfv]|\[\^?\]?(?:\\[^xpP]|[^\]\\])*\]|[^\\[\](){}|*+?]/guy
const REPETITION = /\{(\d+)(?:,\d*)?\}\??|[*+?]\??/y
/** Letters with a third form that a regular expression takes for the same letter: the Kelvin sign and the long s. */
const OTHER_FORMS = /[ksKS]|[^\0-\x7f]/

/**
 * Returns texts that every match of a regular expression contains, in some case of their letters, the longest first. None where the syntax is not plain
 * enough to tell.
 */
export function neededTexts(pattern: string, ignoresCase: boolean): readonly string[] {
  const [flags = '', letters = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? []
  const isCaseless = ignoresCase || letters.includes('i')
  const texts: string[] = []
  let text = ''
  const end = () => {
    texts.push(text)
    text = ''
  }
  for (let at = flags.length; at < pattern.length; ) {
    const group = pattern[at] === '(' ? groupAt(pattern, at) : undefined
    ITEM.lastIndex = at
    const item = group ?? ITEM.exec(pattern)?.[0]
    if (item === undefined) return []
    REPETITION.lastIndex = at + item.length
    const [repetition = ''] = REPETITION.exec(pattern) ?? []
    const literal = group === undefined ? literalOf(item) : undefined
    const isKept = literal !== undefined && !(isCaseless && OTHER_FORMS.test(literal))
    if (!isKept || (repetition !== '' && !repetition.startsWith('+'))) end()
    else text += literal
    if (repetition !== '') end()
    at += item.length + repetition.length
  }
  end()
  return texts.filter(({ length }) => length >= CHARS_MIN).sort((one, other) => other.length - one.length)
}

/** The character that an item stands for, if it is only one. */
function literalOf(item: string): string | undefined {
  if (item.startsWith('\\')) return /^\\[^a-zA-Z0-9]/.test(item) ? item.slice(1) : undefined
  return item.length > 1 && item.startsWith('[') ? undefined : /[.^$]/.test(item) ? undefined : item
}

/** A group up to its bracket, without groups and classes inside. */
const GROUP = /\((?:\?:|(?!\?))(?:\\[^QExpP]|[^\\()[\]])*\)/y

function groupAt(pattern: string, at: number): string | undefined {
  GROUP.lastIndex = at
  return GROUP.exec(pattern)?.[0]
}
