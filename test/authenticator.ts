import { codeOfStep } from '../server/src/resources/access/second-factors/totp.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an authenticator app shows for a secret in base 32. */
export function codeAt(secret: string, nowMs: number): string {
  const bits = [...secret].map((digit) => ALPHABET.indexOf(digit).toString(2).padStart(5, '0')).join('')
  const bytes = bits.match(/.{8}/g) ?? []
  return codeOfStep(Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))), Math.floor(nowMs / 30_000))
}
