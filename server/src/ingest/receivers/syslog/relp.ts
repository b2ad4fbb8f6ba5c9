import { withoutLineEnd } from '../../listeners/framing.ts'

const SPACE = 0x20
const LINE_FEED = 0x0a
const HEAD_BYTES_MAX = 64

/** A frame of RELP: transaction, command, data. */
export type RelpFrame = { transaction: string; command: string; data: Uint8Array }

/** Thrown for bytes that are no frame. The connection cannot go on. */
export class BrokenFrame extends Error {}

/** Reads the frame at the beginning; undefined while it is incomplete. */
export function readRelpFrame(bytes: Uint8Array, dataBytesMax: number): { frame: RelpFrame; end: number } | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = view.toString('latin1', 0, HEAD_BYTES_MAX)
  const [whole, transaction = '', command = '', digits = ''] = /^(\d{1,9}) ([A-Za-z]{1,32}) (\d{1,9})(?=[ \n])/.exec(head) ?? []
  if (whole === undefined) {
    if (view.length >= HEAD_BYTES_MAX || !/^\d{0,9}(?: [A-Za-z]{0,32}(?: \d{0,9})?)?$/.test(head))
      throw new BrokenFrame('the bytes are no frame of RELP')
    return undefined
  }
  const length = Number(digits)
  if (length > dataBytesMax) throw new BrokenFrame(`the frame is longer than ${dataBytesMax} bytes`)
  const start = whole.length + (length > 0 || view[whole.length] === SPACE ? 1 : 0)
  const end = start + length
  if (view.length <= end) return undefined
  if (view[end] !== LINE_FEED) throw new BrokenFrame('the frame does not end where it should')
  return { frame: { transaction, command, data: view.subarray(start, end) }, end: end + 1 }
}

export const relpReply = (transaction: string, text: string): string =>
  `${transaction} rsp ${Buffer.byteLength(text)}${text === '' ? '' : ` ${text}`}\n`

export const RELP_OFFER = '200 OK\nrelp_version=0\nrelp_software=dendro\ncommands=syslog'

export const relpMessage = (data: Uint8Array): Uint8Array => withoutLineEnd(data)
