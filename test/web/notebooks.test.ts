import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openAction } from './actions.fixture.ts'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { exploreUrl } from './explore-url.fixture.ts'
import { takePicture } from './pictures.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

let stand: Stand

const payments = (startMs: number): object[] =>
  Array.from({ length: 12 }, (_, index) => ({
    timestamp: new Date(startMs - index * 2_000).toISOString(),
    level: index % 3 ? 'info' : 'error',
    message: index % 3 ? `payment ${index} taken` : `payment ${index} declined`,
  }))

const step = (page: Page, number: number) => page.getByRole('listitem', { name: `Step ${number}`, exact: true })
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

describe.skipIf(browserPath === undefined)('notebooks', () => {
  beforeAll(async () => {
    stand = await openStand()
    await stand.send('payments', payments(stand.app.clock.nowMs() - 120_000))
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('an investigation is pinned from Explore step by step, into a new notebook and then into that', async () => {
    const org = await stand.app.newOrganization()
    await stand.send('payments', payments(stand.app.clock.nowMs() - 120_000), org)
    const page = await stand.open('/app/notebooks', { key: org.key })
    await page.getByRole('heading', { name: 'No notebooks yet' }).waitFor()
    await takePicture(page, 'notebooks-empty')
    await page.goto(stand.app.url + exploreUrl({ r: 'Last 1 hour', q: "level = 'error'" }))
    await page.getByText('4 events ·').waitFor()
    await openAction(page, 'Add to notebook')
    await page.getByLabel('Name of the notebook').fill('Declined payments')
    await page.getByLabel('Title').fill('Where it began')
    await page.getByLabel('What you found').fill('The bank **declines** every third payment.')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByText('Added to').waitFor()
    await page.keyboard.press('Escape')
    // The second step goes to the notebook that is there.
    await page.goto(stand.app.url + exploreUrl({ r: 'Last 1 hour' }))
    await page.getByText('12 events ·').waitFor()
    await openAction(page, 'Add to notebook')
    await page.getByLabel('What you found').fill('All payments, for comparison.')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByRole('link', { name: 'Declined payments' }).click()
    await page.getByRole('heading', { name: 'Declined payments' }).waitFor()
    await step(page, 1)
      .getByText(/ · 4 events$/)
      .waitFor()
    await step(page, 2)
      .getByText(/ · 12 events$/)
      .waitFor()
    expect(await step(page, 1).getByRole('list', { name: 'Newest events' }).getByRole('listitem').count()).toBe(4)
    expect(await step(page, 1).getByRole('list', { name: 'Newest events' }).textContent(), 'messages, not whole lines').not.toContain('{"')
    // Times are fixed, so that the step shows the same tomorrow.
    await step(page, 1)
      .getByText(/^\d{4}-\d\d-\d\d .* – /)
      .waitFor()
  })

  test('a notebook takes notes, is put in order, and is exported with what its queries find', async () => {
    const where = { from_expr: '*', time_range: 'Last 1 hour' }
    const declined = {
      title: 'Where it began',
      words: 'The bank **declines** some.',
      search_details: { ...where, where: "level = 'error'" },
    }
    const body = { name: 'Declined payments', steps: [declined, { words: 'All payments.', search_details: where }] }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/notebooks', { body })).body
    const page = await stand.open(`/app/notebooks?id=${id}`)
    await step(page, 2)
      .getByText(/ · 12 events$/)
      .waitFor()
    await page.getByRole('button', { name: 'Add a note' }).click()
    await page.getByLabel('Words (Markdown)').fill('Next: ask the bank.')
    await page.getByRole('button', { name: 'Save' }).click()
    await step(page, 3).getByText('Next: ask the bank.').waitFor()
    await page.getByRole('button', { name: 'Move step 2 up' }).click()
    await step(page, 1).getByText('All payments.').waitFor()
    await takePicture(page, 'notebook')
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      expect(await axeFaults(page, theme)).toEqual([])
    }
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const text = await copied(page)
    const headings = text.split('\n').filter((line) => line.startsWith('#'))
    expect(headings).toEqual(['# Declined payments', '## 1. Query', '## 2. Where it began', '## 3. Note'])
    expect(text).toContain('The bank **declines** some.')
    expect(text).toMatch(/UTC · 4 events · \[open in Dendro\]\(http:\S+\/app\/explore\?\S+\)/)
    expect(text).toContain('payment 0 declined')
    const [, link = ''] = /4 events · \[open in Dendro\]\((\S+)\)/.exec(text) ?? []
    await page.goto(link)
    await page.getByText('4 events ·').waitFor()
    await page.goto(`${stand.app.url}/app/notebooks`)
    await page.getByRole('list', { name: 'Notebooks' }).getByText('3 steps').first().waitFor()
    await takePicture(page, 'notebooks')
  })

  test('words are rendered as Markdown; markup stays text, links lead to pages only, and nesting without end does no harm', async () => {
    const words = `## Cause

The bank **declines** *some*, see \`code()\`:

1. first
2. [a page](https://wiki.example.org/x), [a script](javascript:alert(1))

| who | count |
| --- | --- |
| eu | 4 |

<img src=x onerror="document.title='owned'"> <script>document.title='owned'</script>

![a picture](https://elsewhere.example.org/x.png)`
    const steps = [{ words }, { words: `${'>'.repeat(4_000)} deep` }, { words: '- '.repeat(4_000) }]
    expect((await stand.org.ask('POST', '/notebooks', { body: { name: 'Written', steps } })).status).toBe(201)
    const page = await stand.open('/app/explore')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Notebooks' }).click()
    await page.getByRole('link', { name: 'Written' }).click()
    const first = step(page, 1)
    await first.getByRole('heading', { level: 3, name: 'Cause' }).waitFor()
    await first.locator('strong', { hasText: 'declines' }).waitFor()
    expect(await first.locator('ol').getByRole('listitem').count()).toBe(2)
    await first.getByRole('columnheader', { name: 'who' }).waitFor()
    const links = await Promise.all((await first.getByRole('link').all()).map((link) => link.getAttribute('href')))
    expect(links).toEqual(['https://wiki.example.org/x', 'https://elsewhere.example.org/x.png'])
    await first.getByText('<img src=x onerror=').waitFor()
    expect(await first.locator('img, script').count()).toBe(0)
    expect(await page.title()).not.toBe('owned')
    await step(page, 2).getByText('deep').waitFor()
    await step(page, 3).getByRole('button', { name: 'Edit step 3' }).waitFor()
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      expect(await axeFaults(page, theme)).toEqual([])
    }
  })

  test('a change of an outdated version is refused with the reason; a deleted notebook links to the list', async () => {
    const body = { name: 'Shared', steps: [{ words: 'first' }] }
    const { id } = (await stand.org.ask<{ id: string }>('POST', '/notebooks', { body })).body
    const page = await stand.open(`/app/notebooks?id=${id}`)
    await step(page, 1).getByText('first').waitFor()
    const change = { steps: [{ words: 'theirs' }] }
    expect((await stand.org.ask('PATCH', `/notebooks/${id}`, { body: change })).status).toBe(200)
    await page.getByRole('button', { name: 'Edit step 1' }).click()
    await page.getByLabel('Words (Markdown)').fill('mine')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('the notebook has the version 2 by now; read it again').first().waitFor()
    await page.reload()
    await step(page, 1).getByText('theirs').waitFor()
    await openAction(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Notebooks' }).waitFor()
    await page.goto(`${stand.app.url}/app/notebooks?id=${id}`)
    await page.getByText('This notebook no longer exists').waitFor()
    await page.getByRole('link', { name: 'All notebooks' }).first().waitFor()
  })
})
