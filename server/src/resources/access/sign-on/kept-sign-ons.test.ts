import { expect, test } from 'vitest'
import { endOfSessions } from './kept-sign-ons.ts'

const MINUTE_MS = 60_000
const nowMs = 1_800_000_000_000
const inMinutes = (endMs: number | undefined): number | undefined => (endMs === undefined ? undefined : (endMs - nowMs) / MINUTE_MS)
const refresh = { type: 'REFRESH', text: 'x' } as const
const access = (minutes: number) => ({ type: 'ACCESS', text: 'x', endsAtMs: nowMs + minutes * MINUTE_MS }) as const

test.each([
  ['a refresh token: as long as any session', { token: refresh }, null, undefined],
  ['a refresh token: the setting is for others', { token: refresh }, 10, undefined],
  ['an access token: as long as it', { token: access(30) }, null, 30],
  ['an access token: five minutes at least', { token: access(1) }, null, 5],
  ['an access token: as the setting says', { token: access(30) }, 480, 480],
  ['SAML: an hour', {}, null, 60],
  ['SAML: as the setting says', {}, 480, 480],
  ['SAML: never longer than at the provider', { endsAtMs: nowMs + 20 * MINUTE_MS }, 480, 20],
])('how long a session lasts: %s', (_what, of, session_minutes, expected) => {
  expect(inMinutes(endOfSessions({ session_minutes }, of, nowMs))).toBe(expected)
})
