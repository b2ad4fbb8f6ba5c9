import { createHmac, timingSafeEqual } from 'node:crypto'

/** Codes by time (RFC 6238), with the parameters that all authenticator apps share. */
const STEP_S = 30
const DIGITS = 6
/** Codes of the step before and after count too: clocks differ, and typing takes time. */
const STEPS_AROUND = [0, -1, 1]

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BITS_PER_DIGIT = 5

/** The code of a time step (RFC 4226, 5.3). */
export function codeOfStep(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

/** The time step whose code was given, if it is later than the last accepted one; undefined for a wrong code. */
export function stepOfCode(key: Buffer, code: string, nowMs: number, lastStep: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const current = Math.floor(nowMs / 1000 / STEP_S)
  const found = STEPS_AROUND.map((around) => current + around).filter((step) =>
    timingSafeEqual(Buffer.from(codeOfStep(key, step)), Buffer.from(code)),
  )
  return found.find((step) => step > lastStep)
}

/** The text form of a key (RFC 4648, base 32), which people can type. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(new RegExp(`.{1,${BITS_PER_DIGIT}}`, 'g')) ?? []
  return digits.map((digit) => ALPHABET[Number.parseInt(digit.padEnd(BITS_PER_DIGIT, '0'), 2)]).join('')
}

/** The address that authenticator apps read from a QR code. */
export const totpAddress = (secret: string, account: string): string =>
  `otpauth://totp/Dendro:${encodeURIComponent(account)}?secret=${secret}&issuer=Dendro&algorithm=SHA1&digits=${DIGITS}&period=${STEP_S}`
