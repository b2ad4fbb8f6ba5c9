import { WORD_BYTES, WORDS_OF_TEXTS } from './memory'
import { charAt } from './text-kinds'

/** The keys of headers, numbered as the host numbers their paths (names in kernel.ts). */
export const PRI: i32 = 0
export const FACILITY: i32 = 1
export const VERSION: i32 = 2
export const HOSTNAME: i32 = 3
export const APPNAME: i32 = 4
export const PROCID: i32 = 5
export const MSGID: i32 = 6
export const MESSAGE: i32 = 7
export const SEVERITY: i32 = 8
export const LEVEL: i32 = 9
export const STREAM: i32 = 10
export const PARTIAL: i32 = 11
export const THREAD: i32 = 12
export const CALLER: i32 = 13
export const TAG: i32 = 14
export const VHOST: i32 = 15
export const CLIENT_IP: i32 = 16
export const USER: i32 = 17
export const METHOD: i32 = 18
export const PATH: i32 = 19
export const PROTOCOL: i32 = 20
export const STATUS: i32 = 21
export const BYTES: i32 = 22
export const REFERER: i32 = 23
export const USER_AGENT: i32 = 24
export const CEF_VERSION: i32 = 25
/** The fields of CEF in their order; the severity is the sixth. */
export const CEF_FIELDS: i32 = 26
export const SEQUENCE: i32 = 31

/** The words that stand for numbers and letters in headers: facilities, severities, levels by their letters, and what a part of a line has. */
export const FACILITIES: i32 = 0
export const SEVERITIES: i32 = 24
export const LEVEL_NAMES: i32 = 32
export const TRUE: i32 = 39

export function initNames(): void {
  putWords(
    FACILITIES,
    'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7',
  )
  putWords(SEVERITIES, 'emerg alert crit err warning notice info debug')
  putWords(LEVEL_NAMES, 'verbose debug info warning error fatal fatal true')
}

function putWords(first: i32, words: string): void {
  let number = first
  let length = 0
  for (let index = 0; index <= words.length; index += 1) {
    const isEnd = index === words.length || charAt(words, index) === 0x20
    if (isEnd) {
      store<u8>(wordStart(number), length, WORD_BYTES - 1)
      number += 1
      length = 0
      continue
    }
    store<u8>(wordStart(number) + length, charAt(words, index))
    length += 1
  }
}

export function wordStart(number: i32): i32 {
  return WORDS_OF_TEXTS + number * WORD_BYTES
}

export function wordEnd(number: i32): i32 {
  return wordStart(number) + i32(load<u8>(wordStart(number), WORD_BYTES - 1))
}

/** The word for a letter of a level; -1 for another byte. */
export function wordOfLevel(level: i32): i32 {
  switch (level) {
    case 0x56:
      return LEVEL_NAMES
    case 0x44:
      return LEVEL_NAMES + 1
    case 0x49:
      return LEVEL_NAMES + 2
    case 0x57:
      return LEVEL_NAMES + 3
    case 0x45:
      return LEVEL_NAMES + 4
    case 0x46:
      return LEVEL_NAMES + 5
    case 0x41:
      return LEVEL_NAMES + 6
    default:
      return -1
  }
}
