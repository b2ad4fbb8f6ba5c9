import type { ApiKey } from '@dendro/api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { codeAt } from '../authenticator.ts'
import { linkTokenIn, type TestUser } from '../support/world.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

/** An authenticator app shows another code after this time, and each code counts once. */
const STEP_MS = 30_000

const rowOf = (page: Page, table: string, name: string) =>
  page
    .getByRole('region', { name: `${table} table`, exact: true })
    .getByRole('row')
    .filter({ hasText: name })

/** secretShown is the key that the page shows once, other than one shown before. */
async function secretShown(page: Page, before = ''): Promise<string> {
  const shown = page.getByRole('status').locator('code')
  await expect
    .poll(async () => (await shown.allTextContents()).filter((text) => text !== before))
    .toEqual([expect.stringMatching(/^dp?k_\S+$/)])
  return (await shown.textContent()) ?? ''
}

const CONTROLS = ['a[href]', 'button:enabled', 'input:enabled', 'select:enabled', 'textarea:enabled', 'summary']
const TABS_MAX = 120

/** unreached are the controls of a page that Tab does not lead to. */
async function unreached(page: Page): Promise<string[]> {
  const controls = CONTROLS.map((one) => `main ${one}`).join(', ')
  const count = await page.evaluate<number>(`(() => {
    const all = [...document.querySelectorAll('${controls}')].filter((one) => one.checkVisibility())
    for (const one of all) one.setAttribute('data-unreached', '')
    document.addEventListener('focusin', ({ target }) => target.removeAttribute('data-unreached'))
    return all.length
  })()`)
  expect(count).toBeGreaterThan(3)
  const left = page.locator('[data-unreached]')
  for (let tabs = 0; tabs < TABS_MAX && (await left.count()) > 0; tabs += 1) await page.keyboard.press('Tab')
  return page.evaluate<string[]>(`[...document.querySelectorAll('[data-unreached]')].map(({ outerHTML }) => outerHTML)`)
}

const fits = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')

describe.skipIf(browserPath === undefined)('keys, sessions and the second factor in the web app', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  const statusWith = async (key: string) => (await stand.app.ask('GET', '/auth/me', { key })).status
  const endPrevious = async (page: Page) => {
    await page.getByRole('button', { name: 'End previous secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End previous secret' }).click()
  }

  async function signIn(user: TestUser, width = 1280): Promise<Page> {
    const page = await stand.open('/app/sign-in', { key: null, width })
    await fillPassword(page, user)
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
    return page
  }

  async function fillPassword(page: Page, { email, password }: TestUser): Promise<void> {
    await page.getByRole('button', { name: 'Password', exact: true }).click()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  const openYou = (page: Page) => page.goto(`${stand.app.url}/app/settings?part=you`)

  /** enroll sets up a second factor on the page of a user. */
  async function enroll(page: Page, user: TestUser): Promise<{ secret: string; recovery: string[] }> {
    const panel = page.getByRole('region', { name: 'Second factor', exact: true })
    await panel.getByLabel('Your password').fill(user.password)
    await panel.getByRole('button', { name: 'Set up' }).click()
    await panel.getByRole('img', { name: 'QR code of the secret' }).waitFor()
    const secret = ((await panel.locator('code').textContent()) ?? '').replaceAll(' ', '')
    await panel.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, stand.app.clock.nowMs()))
    await panel.getByRole('button', { name: 'Turn on' }).click()
    const shown = await page.getByRole('status').filter({ hasText: 'Recovery codes' }).locator('code').textContent()
    await panel.getByText('10 recovery codes are left').waitFor()
    stand.app.clock.advance(STEP_MS)
    return { secret, recovery: (shown ?? '').split(/\s+/) }
  }

  /** enrolled is a user with a second factor that was set up by the API. */
  async function enrolled() {
    const user = await stand.org.newUser(['Standard'])
    const ask = <T>(path: string, body: object) => stand.app.ask<T>('POST', path, { token: user.token, body })
    const { secret } = (await ask<{ secret: string }>('/auth/second-factor', { password: user.password })).body
    const code = codeAt(secret, stand.app.clock.nowMs())
    const { recovery_codes } = (await ask<{ recovery_codes: string[] }>('/auth/second-factor/confirm', { code })).body
    stand.app.clock.advance(STEP_MS)
    return { user, secret, recovery: recovery_codes }
  }

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('a key works from its addresses, and is rotated while its previous secret works: %s, %d pixels', async (theme, width) => {
    const name = `Ferries ${theme}`
    const page = await stand.open('/app/settings?part=keys', { theme, width })
    const form = page.getByRole('region', { name: 'New key', exact: true })
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByLabel('Allowed addresses').fill('127.0.0.1, ten.example')
    await form.getByRole('button', { name: 'Create key' }).click()
    await form
      .getByText(/address/)
      .last()
      .waitFor()
    expect(await page.getByRole('status').locator('code').count()).toBe(0)
    await form.getByLabel('Allowed addresses').fill('127.0.0.1, 10.0.0.0/8')
    await form.getByRole('button', { name: 'Create key' }).click()
    const first = await secretShown(page)
    expect(await statusWith(first)).toBe(200)
    const { api_keys } = (await stand.org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')).body
    expect(api_keys.find((key) => key.name === name)?.allowed_addresses).toEqual(['127.0.0.1', '10.0.0.0/8'])

    const row = rowOf(page, 'API keys', name).first()
    await row.getByRole('button', { name: 'Edit' }).click()
    const rotation = page.getByRole('form', { name: `Rotate the key ${name}` })
    await rotation.getByLabel('Previous secret').selectOption('works for an hour')
    expect(await axeFaults(page, `rotate ${theme}`)).toEqual([])
    await rotation.getByRole('button', { name: 'Make new secret' }).click()
    const second = await secretShown(page, first)
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200])
    await row.getByText(/previous secret until/).waitFor()

    await row.getByRole('button', { name: 'Edit' }).click()
    await page.getByText(/^The previous secret works until/).waitFor()
    expect(await axeFaults(page, `rotated ${theme}`)).toEqual([])
    expect(await fits(page)).toBe(true)
    await endPrevious(page)
    await row.getByText(/previous secret until/).waitFor({ state: 'detached' })
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200])

    await page.getByLabel('Allowed addresses').last().fill('192.0.2.1')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => statusWith(second)).not.toBe(200)
  })

  test('a personal key acts as its user, is rotated and deleted', async () => {
    const user = await stand.org.newUser(['Standard'])
    const page = await signIn(user, 390)
    await openYou(page)
    const form = page.getByRole('form', { name: 'New personal key' })
    await page.getByText('No personal keys.').waitFor()
    await form.getByLabel('Name').fill('Laptop')
    await form.getByLabel('May').selectOption('read and search')
    await form.getByLabel('Expires').selectOption('in a year')
    await form.getByLabel('Allowed addresses').fill('127.0.0.0/8')
    await form.getByRole('button', { name: 'Create key' }).click()
    const first = await secretShown(page)
    const me = await stand.app.ask<{ user: { id: string } }>('GET', '/auth/me', { key: first })
    expect(me.body.user.id).toBe(user.id)
    const row = rowOf(page, 'Personal API keys', 'Laptop').first()
    await row.getByText('read and search').waitFor()
    await row.getByRole('button', { name: 'Rotate the key Laptop' }).click()
    await page.getByRole('form', { name: 'Rotate the key Laptop' }).getByLabel('Previous secret').selectOption('works for a day')
    await page.getByRole('form', { name: 'Rotate the key Laptop' }).getByRole('button', { name: 'Make new secret' }).click()
    const second = await secretShown(page, first)
    await row.getByText(/previous secret until/).waitFor()
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200])
    expect(await axeFaults(page, 'personal keys')).toEqual([])
    expect(await fits(page)).toBe(true)
    await row.getByRole('button', { name: 'Delete the key Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No personal keys.').waitFor()
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 401])
  })

  test('a user sees the own sessions, and ends another one and all others', async () => {
    const user = await stand.org.newUser(['Standard'])
    const page = await signIn(user)
    const other = await signIn(user)
    await openYou(page)
    const panel = page.getByRole('region', { name: 'Your sessions', exact: true })
    const ends = panel.getByRole('button', { name: /^End the session/ })
    await panel.getByText('this session').waitFor()
    // That of the invitation, and that of the other page.
    await expect.poll(() => ends.count()).toBe(2)
    await panel.getByText('from 127.0.0.1').first().waitFor()
    expect(await axeFaults(page, 'sessions')).toEqual([])
    const { sessions } = (await stand.app.ask<{ sessions: { user_agent?: string }[] }>('GET', '/auth/sessions', { token: user.token })).body
    expect(sessions).toHaveLength(3)
    await panel
      .getByRole('row')
      .filter({ hasText: /Chrom/ })
      .filter({ hasNotText: 'this session' })
      .getByRole('button', { name: /^End the session/ })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
    await expect.poll(() => ends.count()).toBe(1)
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Dendro' }).or(other.getByText('Your session has ended')).first().waitFor()
    await panel.getByRole('button', { name: 'End all others' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click()
    await panel.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
    expect((await stand.app.ask('GET', '/auth/me', { token: user.token })).status).toBe(401)
    await page.reload()
    await panel.getByText('this session').waitFor()
  })

  test('a second factor is set up, asked for at the sign-in, replaced by a recovery code, and turned off', async () => {
    const user = await stand.org.newUser(['Standard'])
    const page = await signIn(user)
    await openYou(page)
    const { secret, recovery } = await enroll(page, user)
    expect(recovery).toHaveLength(10)
    expect(await axeFaults(page, 'second factor')).toEqual([])
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await fits(page)).toBe(true)
    await page.setViewportSize({ width: 1280, height: 800 })

    const signOut = async () => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('heading', { name: 'Sign in to Dendro' }).waitFor()
    }
    await signOut()
    await fillPassword(page, user)
    const code = page.getByLabel('Code')
    await code.waitFor()
    // The field that is missing has the focus: what is typed next goes there.
    await page.locator('input[name=code]:focus').waitFor()
    expect(await axeFaults(page, 'code')).toEqual([])
    await page.keyboard.type('000000')
    await page.keyboard.press('Enter')
    await page.getByText('The code is wrong, or was used before.').waitFor()
    await code.fill(codeAt(secret, stand.app.clock.nowMs()))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })

    await signOut()
    await fillPassword(page, user)
    await code.fill(recovery[0] ?? '')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
    await openYou(page)
    const panel = page.getByRole('region', { name: 'Second factor', exact: true })
    await panel.getByText('9 recovery codes are left').waitFor()
    stand.app.clock.advance(STEP_MS)
    await panel.getByLabel('Your password').fill(user.password)
    await panel.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, stand.app.clock.nowMs()))
    await panel.getByRole('button', { name: 'Turn off' }).click()
    await panel.getByRole('button', { name: 'Set up' }).waitFor()
  })

  test('every control of the pages of access is reached by keyboard', async () => {
    const user = await stand.org.newUser(['Administrator'])
    const page = await signIn(user)
    await openYou(page)
    await page.getByText('No personal keys.').waitFor()
    expect(await unreached(page)).toEqual([])
    for (const [part, title] of [
      ['keys', 'API keys'],
      ['users', 'Users'],
      ['rules', 'Access rules'],
      ['sign-on', 'Single sign-on'],
    ]) {
      await page.goto(`${stand.app.url}/app/settings?part=${part}`)
      await page.getByRole('heading', { name: title ?? '', level: 1 }).waitFor()
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      if (part === 'keys' || part === 'users') await page.getByRole('button', { name: /^Edit/ }).first().click()
      expect(await unreached(page)).toEqual([])
    }
  })

  test('a user without a second factor is asked for no code after another one was', async () => {
    const { user } = await enrolled()
    const plain = await stand.org.newUser(['Standard'])
    const page = await stand.open('/app/sign-in', { key: null })
    await fillPassword(page, user)
    await page.getByLabel('Code').waitFor()
    await page.getByLabel('E-mail').fill(plain.email)
    await page.getByLabel('Code').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
  })

  test('the link to a new password asks a user with a second factor for the code', async () => {
    const { user, secret } = await enrolled()
    expect((await stand.org.ask('POST', `/users/${user.id}/reset-password`)).status).toBe(200)
    const page = await stand.open(`/accept-invite?token=${linkTokenIn(stand.app.mails, user.email)}`, { key: null, width: 390 })
    await page.getByLabel('Password', { exact: false }).first().fill('twelve otters in the brook')
    await page.getByLabel('Repeat password').fill('twelve otters in the brook')
    await page.getByRole('button', { name: 'Set password and sign in' }).click()
    const code = page.getByLabel('Code')
    await page.locator('input[name=code]:focus').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await axeFaults(page, 'invitation with code')).toEqual([])
    await code.fill(codeAt(secret, stand.app.clock.nowMs()))
    await page.getByRole('button', { name: 'Set password and sign in' }).click()
    await page.getByRole('heading', { name: 'Explore' }).waitFor({ state: 'attached' })
  })

  test('an administrator ends the sessions of a user and removes the second factor', async () => {
    const { user } = await enrolled()
    const page = await stand.open('/app/settings?part=users', { width: 390 })
    await rowOf(page, 'Users', user.email).first().getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: `End sessions of ${user.email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End sessions' }).click()
    await page.getByText('1 session ended.').waitFor()
    await expect.poll(async () => (await stand.app.ask('GET', '/auth/me', { token: user.token })).status).toBe(401)
    await page.getByRole('button', { name: `Remove second factor of ${user.email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove second factor' }).click()
    await page.getByText('Second factor removed.').waitFor()
    expect(await axeFaults(page, 'user')).toEqual([])
    expect(await fits(page)).toBe(true)
    const { email, password } = user
    expect((await stand.app.ask('POST', '/auth/login', { body: { email, password } })).status).toBe(200)
  })
})
