/** A part of a text from the character `at`; a link is an address of the web. */
type LinkPart = { at: number; text: string; isLink: boolean }

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`]+/gi
/** Characters that end a sentence or close a bracket before which the address stood. */
const TRAILING = /[.,;:!?)\]}]+$/

/** Divides a text into addresses and the rest. An address ends before the punctuation of its sentence; a bracket that it opened is its own. */
export function linkParts(text: string): readonly LinkPart[] {
  const parts: LinkPart[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = withoutTrailing(found)
    if (!URL.canParse(address)) continue
    if (index > end) parts.push({ at: end, text: text.slice(end, index), isLink: false })
    parts.push({ at: index, text: address, isLink: true })
    end = index + address.length
  }
  if (end < text.length) parts.push({ at: end, text: text.slice(end), isLink: false })
  return parts
}

function withoutTrailing(found: string): string {
  const bare = found.replace(TRAILING, '')
  const isOpen = bare.split('(').length > bare.split(')').length
  return isOpen && found.charAt(bare.length) === ')' ? `${bare})` : bare
}
