import type { Terminal } from './terminal.ts'

const codes = { red: 31, green: 32, yellow: 33, cyan: 36, gray: 90, bold: 1 } as const
export type Color = keyof typeof codes

/** Colors a text, or returns it unchanged. */
export type Paint = (color: Color, text: string) => string

export const colorModes = ['auto', 'always', 'never'] as const
export type ColorMode = (typeof colorModes)[number]

/** `auto` colors only a terminal, unless NO_COLOR is set or the terminal is dumb. */
export function painterFor({ env, columns }: Terminal, mode: ColorMode = 'auto'): Paint {
  const isAuto = columns !== undefined && !env.NO_COLOR && env.TERM !== 'dumb'
  const isOn = mode === 'always' || (mode === 'auto' && isAuto)
  return isOn ? (color, text) => (text === '' ? '' : `\u001b[${codes[color]}m${text}\u001b[0m`) : (_, text) => text
}

/** The color of a severity in any of its common spellings. */
export function colorOfLevel(level: string): Color {
  if (/^(error|err|fatal|crit|critical|alert|emerg|emergency|panic|severe)$/i.test(level)) return 'red'
  if (/^warn(ing)?$/i.test(level)) return 'yellow'
  return /^(debug|trace|verbose|fine|finer|finest)$/i.test(level) ? 'gray' : 'green'
}
