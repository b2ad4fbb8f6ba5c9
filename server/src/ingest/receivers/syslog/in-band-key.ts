/** The key is in the header or at the beginning of the text. */
const SEARCHED_BYTES = 4_096
/** `[dendro@32473 key="…"]`, with the number of any enterprise. */
const ELEMENT = /(^<\d{1,3}>\d{1,2} (?:\S+ ){5}(?:\[[^\]]*\])*?)\[dendro(?:@\d{1,10})? key="([\x21\x23-\x5b\x5e-\x7e]+)"\]/
/** `key=…` as the first word of the message, or of its text. */
const TOKEN = /(^|^<\d{1,3}>|^<\d{1,3}>[^\n]{0,600}?(?:\S: |- |\] |- \u00ef\u00bb\u00bf))key=([\x21-\x7e]{16,})(?: |$)/

/** The API key that a message shows, and the message without it. */
export type KeyedMessage = { key: string; message: Uint8Array }

export function inBandKey(message: Uint8Array): KeyedMessage | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const head = bytes.toString('latin1', 0, SEARCHED_BYTES)
  if (!head.includes('key=')) return undefined
  const element = ELEMENT.exec(head)
  const found = element ?? TOKEN.exec(head)
  const [whole, before = '', key = ''] = found ?? []
  if (whole === undefined) return undefined
  const after = bytes.subarray(whole.length)
  // An element that stood alone leaves the sign for no structured data.
  const isAlone = element && before.endsWith(' ') && after[0] !== 0x5b
  return { key, message: Buffer.concat([Buffer.from(isAlone ? `${before}-` : before, 'latin1'), after]) }
}
