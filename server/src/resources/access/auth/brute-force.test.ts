import { request } from 'node:http'
import type { Login } from '@dendro/api'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { openTestApp, type TestApp, type TestClock, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { KeyGuessLimiter } from './key-guesses.ts'

/** The minimum time of a failed login; longer waits come from the slowdown. */
const FLOOR_MS = 300
const MINUTE_MS = 60_000

let app: TestApp
let second: TestApp
let org: TestOrganization
const slept: number[] = []
/** A login that succeeds tidies up attempts of the whole deployment that are old by its clock, and other tests move theirs by months: so a database of their own. */
let database: TestDatabase
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
  second = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
  org = await app.newOrganization()
  for (const { app: opened, clock } of [app, second]) Object.assign(opened.world, { clock: watched(clock) })
})
/** Records waits instead of waiting. Abortable waits belong to background work and are real. */
const watched = (clock: TestClock): TestClock => ({
  ...clock,
  sleep: async (ms, signal) => (signal ? clock.sleep(ms, signal) : void slept.push(ms)),
})
afterEach(() => {
  slept.length = 0
})
afterAll(async () => {
  await second?.close()
  await app?.close()
  await database?.drop()
})

const slowing = (): number[] => slept.filter((ms) => ms > FLOOR_MS)

type Answer = { status: number; retryAfter: string | undefined; body: Login }

/** Logs in from an address of its own, because other tests count attempts too. All of 127/8 is this machine. */
function logIn(from: string, user: { email: string; password: string }, to = app): Promise<Answer> {
  const body = JSON.stringify({ email: user.email, password: user.password })
  const headers = { 'content-type': 'application/json' }
  return new Promise((done, failed) => {
    const sent = request(`${to.url}/auth/login`, { method: 'POST', localAddress: from, headers }, (response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
      })
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body: JSON.parse(text) }),
      )
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

test('after ten failures an account is slow from everywhere, never locked, and quick again after a success', async () => {
  const ada = await org.newUser(['Standard'])
  const wrong = { ...ada, password: 'the wrong password' }
  for (let attempt = 0; attempt < 10; attempt += 1) expect((await logIn(`127.0.1.${attempt + 1}`, wrong)).status).toBe(401)
  expect(slowing()).toEqual([])
  for (let attempt = 0; attempt < 6; attempt += 1) await logIn(`127.0.1.${attempt + 11}`, wrong)
  expect(slowing()).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000])
  expect((await logIn('127.0.1.99', ada)).status).toBe(200)
  expect(slowing().at(-1)).toBe(8_000)
  const slowUntilThen = slowing().length
  expect((await logIn('127.0.1.99', wrong)).status).toBe(401)
  expect((await logIn('127.0.1.99', ada)).status).toBe(200)
  expect(slowing()).toHaveLength(slowUntilThen)
})

test('an unknown account is slowed just like a known one', async () => {
  const nobody = { email: 'nobody-at-all@example.org', password: 'the wrong password' }
  for (let attempt = 0; attempt < 12; attempt += 1) await logIn(`127.0.2.${attempt + 1}`, nobody)
  expect(slowing()).toEqual([500, 1_000])
})

test('two processes count together, also when all attempts come at once', async () => {
  const ada = await org.newUser(['Standard'])
  const wrong = { ...ada, password: 'the wrong password' }
  await Promise.all(Array.from({ length: 13 }, (_, attempt) => logIn(`127.0.3.${attempt + 1}`, wrong, attempt % 2 ? app : second)))
  expect(slowing().sort((a, b) => a - b)).toEqual([500, 1_000, 2_000])
})

test('an address that fails a hundred times gets 429 with Retry-After, others do not; later it may try again', async () => {
  const ada = await org.newUser(['Standard'])
  const from = '127.0.4.1'
  for (let attempt = 0; attempt < 100; attempt += 1) await logIn(from, { email: `guess${attempt}@example.org`, password: 'x' })
  expect(Math.max(...slept)).toBe(4_000)
  const refused = await logIn(from, ada)
  expect(refused.status).toBe(429)
  expect(Number(refused.retryAfter)).toBeGreaterThan(0)
  expect(Number(refused.retryAfter)).toBeLessThanOrEqual(15 * 60)
  // A refused attempt tried nothing, so the account is no slower for it.
  for (let attempt = 0; attempt < 20; attempt += 1) expect((await logIn(from, { ...ada, password: 'x' })).status).toBe(429)
  slept.length = 0
  expect((await logIn('127.0.4.2', ada)).status).toBe(200)
  expect(slowing()).toEqual([])
  app.clock.advance(15 * MINUTE_MS)
  expect((await logIn(from, ada)).status).toBe(200)
})

test('200 correct logins at once from one address are all answered, and do not count as guesses', async () => {
  const from = '127.0.5.1'
  const people = await Promise.all(Array.from({ length: 12 }, () => org.newUser(['Standard'])))
  const crowd = Array.from({ length: 200 }, (_, attempt) => people[attempt % people.length] as { email: string; password: string })
  const answers = await Promise.all(crowd.map((user) => logIn(from, user)))
  expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
  for (const user of people) expect((await logIn(from, user)).status).toBe(200)
})

test('callers behind a proxy are distinguished, and forwarding headers of other peers are ignored', async () => {
  const callers = async (env: Record<string, string>): Promise<string[]> => {
    const behind = await openTestApp(env)
    const there = await behind.newOrganization()
    await there.ask('POST', '/groups', { body: { name: 'seen' }, headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' } })
    const { audit } = (await there.ask<{ audit: { address: string }[] }>('GET', '/audit?action=groups.create')).body
    await behind.close()
    return audit.map(({ address }) => address)
  }
  expect(await callers({})).toEqual(['203.0.113.9'])
  expect(await callers({ DENDRO_TRUSTED_PROXIES: 'none' })).toEqual(['127.0.0.1'])
  expect(await callers({ DENDRO_TRUSTED_PROXIES: '127.0.0.1,203.0.113.0/24' })).toEqual(['198.51.100.1'])
  await expect(openTestApp({ DENDRO_TRUSTED_PROXIES: '10.0.0.0/33' })).rejects.toThrow('DENDRO_TRUSTED_PROXIES must name addresses')
})

test('guessing the old password when changing it is slowed like a login', async () => {
  const ada = await org.newUser(['Standard'])
  const body = { current_password: 'the wrong password', new_password: 'nineteen herons on a wire' }
  for (let attempt = 0; attempt < 12; attempt += 1) await app.ask('POST', '/auth/password', { token: ada.token, body })
  expect(slowing().slice(-2)).toEqual([500, 1_000])
})

test('an address that shows one unknown key after another waits, one that repeats a dead key does not', async () => {
  const waits: number[] = []
  const guesses = new KeyGuessLimiter({ clock: { ...app.clock, sleep: async (ms) => void waits.push(ms) } })
  for (let attempt = 0; attempt < 200; attempt += 1) await guesses.recordFailure('192.0.2.1', 'the same')
  expect(waits).toEqual([])
  for (let attempt = 0; attempt < 56; attempt += 1) await guesses.recordFailure('192.0.2.1', `guess ${attempt}`)
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000])
  await guesses.recordFailure('192.0.2.2', 'another address')
  expect(waits).toHaveLength(7)
})

test('a good key is answered at once from an address that guesses', async () => {
  for (let attempt = 0; attempt < 60; attempt += 1) await app.ask('GET', '/auth/me', { key: `guess ${attempt}` })
  const waitsBefore = slept.length
  expect(waitsBefore).toBeGreaterThan(0)
  expect((await org.ask('GET', '/auth/me')).status).toBe(200)
  expect(slept).toHaveLength(waitsBefore)
})
