import { generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const VERSION_3 = Buffer.from('a003020102', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex')
const SERIAL_BYTES = 16
const KEY_BITS = 2_048
/** From this year on, certificates write times in another way. */
const GENERALIZED_FROM = 2_050

/** A new RSA key (PKCS 8) and a certificate that it signed itself, in DER. Only the name and the time of the certificate are its own: partners trust the certificate as it is. */
export async function selfSigned(name: string, fromMs: number, toMs: number): Promise<{ key: Buffer; certificate: Buffer }> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS })
  const serial = randomBytes(SERIAL_BYTES)
  // Positive, and without leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const named = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(name)))))
  const content = der(
    SEQUENCE,
    VERSION_3,
    der(INTEGER, serial),
    SHA256_WITH_RSA,
    named,
    der(SEQUENCE, timeOf(fromMs), timeOf(toMs)),
    named,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', content, privateKey)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'der' }),
    certificate: der(SEQUENCE, content, SHA256_WITH_RSA, der(BIT_STRING, Buffer.of(0), signature)),
  }
}

function timeOf(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  const isGeneralized = Number(digits.slice(0, 4)) >= GENERALIZED_FROM
  return der(isGeneralized ? GENERALIZED_TIME : UTC_TIME, Buffer.from(isGeneralized ? digits : digits.slice(2)))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const size = body.length < 0x80 ? [body.length] : body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), body])
}
