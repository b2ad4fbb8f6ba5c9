import type { RedactedKind } from '@dendro/api'
import { literalOf } from '../lines/search/literal-tables.ts'
import { type Hint, testOf } from './hints.ts'

/** The part of a text from `start` to `end`. */
export type TextRange = { readonly start: number; readonly end: number }

/** Adds the places of all values of one kind in a text. The time is linear in the length of the text, whatever it contains. */
export type Finder = (text: string, found: TextRange[]) => void

const DIGIT = 1
const LETTER = 2
/** Punctuation in the local part of e-mail addresses, besides hyphen, underscore and dot. */
const LOCAL_MARK = 4
const HYPHEN = 8
const UNDERSCORE = 16
const DOT = 32
/** Other punctuation in tokens. */
const TOKEN_MARK = 64

const WORD = DIGIT | LETTER | UNDERSCORE
/** The characters of base64 in URLs. */
const BASE64_URL = WORD | HYPHEN

const classes = makeClasses()

function makeClasses(): Uint8Array {
  const made = new Uint8Array(128)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  mark('0123456789', DIGIT)
  mark('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', LETTER)
  mark('%+', LOCAL_MARK)
  mark('-', HYPHEN)
  mark('_', UNDERSCORE)
  mark('.', DOT)
  mark('+/=~:', TOKEN_MARK)
  return made
}

/** Letters of other scripts count as letters; the text ends with NaN, which has no class. */
const classAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code < 128 ? (classes[code] as number) : code >= 0xaa ? LETTER : 0
}

function endOfRun(text: string, start: number, of: number, max = Number.POSITIVE_INFINITY): number {
  let end = start
  while (end - start < max && classAt(text, end) & of) end += 1
  return end
}

const AT = '@'
const APOSTROPHE = "'"
const LOCAL = WORD | HYPHEN | DOT | LOCAL_MARK
const DOMAIN = DIGIT | LETTER | HYPHEN | DOT
const LOCAL_CHARS_MAX = 256
const DOMAIN_CHARS_MAX = 256
/** An escape in front of an address is not part of it, as in `\nann@example.org`. */
const BEFORE_LOCAL = /^[^\p{L}\p{N}]+/u

function findEmails(text: string, found: TextRange[]): void {
  let after = 0
  for (let at = text.indexOf(AT); at >= 0; at = text.indexOf(AT, at + 1)) {
    const end = endOfDomain(text, at + 1)
    if (end < 0) continue
    const isQuoted = text[end] === APOSTROPHE
    let start = at
    while (start > after && at - start < LOCAL_CHARS_MAX) {
      if (!(classAt(text, start - 1) & LOCAL) && (isQuoted || !isInName(text, start - 1))) break
      start -= 1
    }
    start += BEFORE_LOCAL.exec(text.slice(start, at))?.[0].length ?? 0
    if (start === at) continue
    found.push({ start, end })
    after = end
  }
}

/** Whether there is an apostrophe between two letters, as in `o'neil@example.org`. */
const isInName = (text: string, at: number): boolean =>
  text[at] === APOSTROPHE && (classAt(text, at - 1) & LETTER) !== 0 && (classAt(text, at + 1) & LETTER) !== 0

/** A domain has at least two labels, and its last one at least two letters. */
function endOfDomain(text: string, start: number): number {
  let end = endOfRun(text, start, DOMAIN, DOMAIN_CHARS_MAX)
  while (end > start && classAt(text, end - 1) & (DOT | HYPHEN)) end -= 1
  const domain = text.slice(start, end)
  const dot = domain.lastIndexOf('.')
  return dot > 0 && domain.length - dot > 2 && classAt(domain, dot + 1) & LETTER ? end : -1
}

const CARD_DIGITS_MIN = 13
const CARD_DIGITS_MAX = 19
const GROUPS_MAX = 6
const SPACE = 0x20
const DASH = 0x2d
const ZERO = 0x30

/** A card number is one group of digits, or groups of 4 to 6 with one kind of separator, of which the last may be shorter. */
function findCards(text: string, found: TextRange[]): void {
  for (let at = 0; at < text.length; ) {
    if (!(classAt(text, at) & DIGIT)) {
      at += 1
      continue
    }
    const end = endOfCard(text, at)
    if (end < 0) {
      at = endOfRun(text, at, DIGIT)
      continue
    }
    found.push({ start: at, end })
    at = end
  }
}

function endOfCard(text: string, start: number): number {
  const before = start === 0 ? 0 : classAt(text, start - 1)
  if (before & WORD) return -1
  // The digits of a fraction.
  if (before & DOT && start > 1 && classAt(text, start - 2) & DIGIT) return -1
  let digits = ''
  let separator = Number.NaN
  let at = start
  for (let group = 0; group < GROUPS_MAX; group += 1) {
    const end = endOfRun(text, at, DIGIT, CARD_DIGITS_MAX + 1)
    digits += text.slice(at, end)
    if (digits.length > CARD_DIGITS_MAX) return -1
    const isEnd = !(classAt(text, end) & WORD)
    if (digits.length >= CARD_DIGITS_MIN && isEnd && isCardNumber(digits)) return end
    const next = text.charCodeAt(end)
    if (next !== SPACE && next !== DASH) return -1
    if (end - at > 6 || end - at < 4 || (group > 0 && next !== separator)) return -1
    separator = next
    at = end + 1
    if (!(classAt(text, at) & DIGIT)) return -1
  }
  return -1
}

/** The lengths of the numbers of the issuers, by their first digits. */
const ISSUERS: readonly { readonly first: RegExp; readonly min: number; readonly max: number }[] = [
  { first: /^4/, min: 13, max: 19 },
  { first: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, min: 16, max: 16 },
  { first: /^3[47]/, min: 15, max: 15 },
  { first: /^3(?:0|6|8|9)/, min: 14, max: 19 },
  { first: /^35/, min: 16, max: 19 },
  { first: /^(?:5[06-9]|6)/, min: 13, max: 19 },
]

const isCardNumber = (digits: string): boolean =>
  ISSUERS.some(({ first, min, max }) => digits.length >= min && digits.length <= max && first.test(digits)) && hasValidCheckDigit(digits)

/** The check of ISO/IEC 7812 (Luhn). */
function hasValidCheckDigit(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const digit = (digits.charCodeAt(at) - ZERO) * (isDoubled ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

const SCHEME = /\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|TOKEN)[ \t]{1,4}/g
/** JSON writes a tab as a backslash and a letter. */
const TOKEN_HINT = /eyJ|(?:earer|EARER|asic|ASIC|oken|OKEN)[ \t\\]/
const SCHEME_TOKEN = BASE64_URL | DOT | TOKEN_MARK
const SCHEME_TOKEN_MIN = 8
const WORD_CHARS_MAX = 24
/** In sentences a word follows the name of a scheme. */
const isWord = (scheme: string, token: string): boolean =>
  /^token/i.test(scheme) ? !/[\d=]/.test(token) : /^[A-Za-z][a-z]*[.:-]?$/.test(token)

const WEB_TOKEN = 'eyJ'
const WEB_TOKEN_PART_MIN = 6

function findTokens(text: string, found: TextRange[]): void {
  for (const { index, 0: scheme } of text.matchAll(SCHEME)) {
    const start = index + scheme.length
    const end = endOfRun(text, start, SCHEME_TOKEN)
    if (end - start >= SCHEME_TOKEN_MIN && (end - start > WORD_CHARS_MAX || !isWord(scheme, text.slice(start, end))))
      found.push({ start, end })
  }
  findWebTokens(text, found)
}

/** Header and payload of a JSON Web Token are base64 of JSON objects, so that both begin alike. */
function findWebTokens(text: string, found: TextRange[]): void {
  for (let at = text.indexOf(WEB_TOKEN); at >= 0; ) {
    const header = endOfRun(text, at, BASE64_URL)
    let end = header
    if (text[header] === '.' && header - at >= WEB_TOKEN_PART_MIN) {
      const payload = endOfRun(text, header + 1, BASE64_URL)
      if (payload - header > WEB_TOKEN_PART_MIN) {
        end = text[payload] === '.' ? endOfRun(text, payload + 1, BASE64_URL) : payload
        found.push({ start: at, end })
      }
    }
    at = text.indexOf(WEB_TOKEN, end)
  }
}

/** The beginnings of keys that issuers mark, with the characters and the length of the rest. */
const KEYS: readonly { readonly prefix: string; readonly rest: number; readonly min: number; readonly max?: number }[] = [
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) => ({ prefix, rest: DIGIT | LETTER, min: 16, max: 16 })),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => ({ prefix, rest: DIGIT | LETTER, min: 20 })),
  { prefix: 'github_pat_', rest: WORD, min: 20 },
  { prefix: 'glpat-', rest: BASE64_URL, min: 20 },
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'].map((prefix) => ({ prefix, rest: BASE64_URL, min: 10 })),
  { prefix: 'AIza', rest: BASE64_URL, min: 35 },
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map((prefix) => ({ prefix, rest: DIGIT | LETTER, min: 10 })),
  { prefix: 'sk-', rest: BASE64_URL, min: 20 },
  { prefix: 'npm_', rest: DIGIT | LETTER, min: 36 },
  { prefix: 'pypi-', rest: BASE64_URL, min: 40 },
  { prefix: 'SG.', rest: BASE64_URL | DOT, min: 40 },
  { prefix: 'hvs.', rest: BASE64_URL, min: 20 },
  { prefix: 'dop_v1_', rest: DIGIT | LETTER, min: 40 },
  { prefix: 'dk_', rest: BASE64_URL, min: 20 },
]
const KEY_PREFIX = new RegExp(KEYS.map(({ prefix }) => prefix.replace('.', '\\.')).join('|'), 'g')
const KEY_HINT = new RegExp(`${KEY_PREFIX.source}|-----BEGIN |aws_?[sS]|AWS_?S`)
const keysByPrefix = new Map(KEYS.map((key) => [key.prefix, key]))
/** A secret whose name precedes it, as in files of credentials. */
const NAMED_SECRET = /(?:aws|AWS)_?(?:[Ss]ecret|SECRET)_?(?:[Aa]ccess|ACCESS)?_?(?:[Kk]ey|KEY)["' ]{0,2}[=:]{1,2}["' ]{0,2}/g
const NAMED_SECRET_CHARS = 40
const PEM = '-----BEGIN '
const PEM_KEY = 'PRIVATE KEY'
const PEM_LABEL_CHARS_MAX = 40
const PEM_END = '-----END '
const PEM_MARK = '-----'

function findSecretKeys(text: string, found: TextRange[]): void {
  let after = 0
  for (const { index, 0: prefix } of text.matchAll(KEY_PREFIX)) {
    const key = keysByPrefix.get(prefix)
    if (!key || index < after || (index > 0 && classAt(text, index - 1) & WORD)) continue
    const end = endOfRun(text, index + prefix.length, key.rest)
    const length = end - index - prefix.length
    if (length >= key.min && length <= (key.max ?? length)) found.push({ start: index, end })
    after = end
  }
  for (const { index, 0: named } of text.matchAll(NAMED_SECRET)) {
    const start = index + named.length
    const end = endOfRun(text, start, WORD | TOKEN_MARK)
    if (end - start >= NAMED_SECRET_CHARS) found.push({ start, end })
  }
  findPrivateKeys(text, found)
}

function findPrivateKeys(text: string, found: TextRange[]): void {
  for (let at = text.indexOf(PEM); at >= 0; ) {
    const label = text.slice(at + PEM.length, at + PEM.length + PEM_LABEL_CHARS_MAX)
    let end = at + PEM.length
    if (label.includes(PEM_KEY)) {
      const last = text.indexOf(PEM_END, end)
      const mark = last < 0 ? -1 : text.indexOf(PEM_MARK, last + PEM_END.length)
      end = mark < 0 ? text.length : mark + PEM_MARK.length
      found.push({ start: at, end })
    }
    at = text.indexOf(PEM, end)
  }
}

const TOKEN_LITERALS = [
  'eyJ',
  // A tab may be written as an escape, also within another one.
  ...['earer', 'EARER', 'asic', 'ASIC', 'oken', 'OKEN'].flatMap((word) => [' ', '\t', '\\t', '\\\\'].map((blank) => word + blank)),
]
const KEY_LITERALS = [
  ...Array.from(keysByPrefix.keys(), (prefix) => literalOf(prefix, { isStart: true })),
  ...[PEM, 'awss', 'awsS', 'aws_s', 'aws_S', 'AWSS', 'AWS_S'].map((text) => literalOf(text)),
]

/** True for an at sign behind what may end the name of a mailbox and before a domain; keys such as `@timestamp` have neither. */
function hasAddress(text: string): boolean {
  for (let at = text.indexOf(AT); at >= 0; at = text.indexOf(AT, at + 1))
    if (isOf(text, at - 1, LOCAL) && hasDomain(text, at + 1)) return true
  return false
}

/** True where domain characters follow, with a dot and a letter behind it. */
function hasDomain(text: string, start: number): boolean {
  for (let at = start; isOf(text, at, DOMAIN); at += 1) if (text[at] === '.' && isOf(text, at + 1, LETTER)) return true
  return false
}

/** Whether a character is of a class; each beyond ASCII may be. */
const isOf = (text: string, at: number, of: number): boolean => text.charCodeAt(at) >= 0x80 || (classAt(text, at) & of) !== 0

/** True when a text may contain a value of the kind. */
export const finderHints: Readonly<Record<RedactedKind, Hint>> = {
  CARD_NUMBER: testOf((text) => /(?:^|[^\w]|\\[nrt])[2-6](?:\d{12}|\d{3,5}[ -]\d{4,6}[ -]\d{4})/.test(text), { kind: 'card' }),
  EMAIL: testOf(hasAddress, { kind: 'address' }),
  TOKEN: testOf((text) => TOKEN_HINT.test(text), ...TOKEN_LITERALS.map((text) => literalOf(text))),
  SECRET_KEY: testOf((text) => KEY_HINT.test(text), ...KEY_LITERALS),
}

export const finders: Readonly<Record<RedactedKind, Finder>> = {
  CARD_NUMBER: findCards,
  EMAIL: findEmails,
  TOKEN: findTokens,
  SECRET_KEY: findSecretKeys,
}
