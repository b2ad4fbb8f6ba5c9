import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, browserPath } from './browser.fixture.ts'
import { openStand, type Stand } from './stand.fixture.ts'

/**
 * The page of all components, compared where machines agree: the styles of every state, by the names of the tokens, with a kept listing; its pictures
 * with each other, since another Chromium or another machine draws the same letters with other pixels.
 */

let stand: Stand
const LISTING = join(import.meta.dirname, 'kit-styles.txt')
const themes = ['light', 'dark'] as const
const PIXEL_MARGIN = 4
const EXPLORE_BYTES_MAX = 350_000
/** The scripts that the page names itself come before the first row; all others are loaded when they are needed. */
const FIRST_SCRIPTS_BYTES_MAX = 250_000
const PIXEL_SHARE_MAX = 0.005

/** The controls and texts of every state with their styles, colors in braces. Widths depend on the letters and are left out. */
const listing = `(() => {
  const named = (color) => color === 'rgba(0, 0, 0, 0)' ? 'none' : '{' + color + '}'
  const lineOf = (element) => {
    const style = getComputedStyle(element)
    const isText = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim() !== '')
    const hasBox = style.borderTopWidth !== '0px' || style.backgroundColor !== 'rgba(0, 0, 0, 0)'
    if (!isText && !hasBox) return []
    const border = style.borderTopWidth === '0px' ? '' : ', border ' + style.borderTopWidth + ' ' + style.borderTopStyle + ' ' + named(style.borderTopColor)
    const text = isText ? ', text ' + named(style.color) + ' ' + style.fontSize + '/' + style.lineHeight + ' ' + style.fontWeight + (style.fontFamily.startsWith('"JetBrains') ? ' mono' : '') : ''
    const box = hasBox ? ', on ' + named(style.backgroundColor) + border + ', radius ' + style.borderRadius + (element.matches('button, input, select, a') ? ', ' + Math.round(element.getBoundingClientRect().height) + 'px high' : '') : ''
    const faded = style.opacity === '1' ? '' : ', opacity ' + style.opacity
    return ['  ' + element.localName + text + box + faded]
  }
  return Array.from(document.querySelectorAll('[data-kit]')).flatMap((state) => [
    state.dataset.kit,
    ...new Set([...state.querySelectorAll('*')].filter((one) => !one.closest('svg, .u-wrap')).flatMap(lineOf)),
  ]).join('\\n') + '\\n'
})()`

/** The tokens of colors with their values. */
const tokens = `(() => {
  const probe = document.body.appendChild(document.createElement('i'))
  const rules = Array.from(document.styleSheets).flatMap((sheet) => Array.from(sheet.cssRules))
  const names = [...new Set(JSON.stringify(rules.map((rule) => rule.cssText)).match(/--color-[a-z0-9-]+(?=:)/g))]
  const found = names.map((name) => {
    probe.style.color = 'var(' + name + ')'
    return [name.slice('--color-'.length), getComputedStyle(probe).color]
  })
  probe.remove()
  return found
})()`

type Themed = { text: string; colors: readonly string[] }
type Tokens = readonly (readonly [string, string])[]

/** withTokens names each color by the token that has it in both themes; another color stays as it is. */
function withTokens(listings: readonly string[], values: readonly Tokens[]): string {
  const [light, dark] = listings.map(
    (one): Themed => ({
      text: one.replaceAll(/\{[^}]*\}/g, '{}'),
      colors: Array.from(one.matchAll(/\{([^}]*)\}/g), ([, color = '']) => color),
    }),
  )
  expect(dark?.text).toBe(light?.text)
  const names = new Map(values[0]?.map(([name, color], at) => [`${color} and ${values[1]?.[at]?.[1]}`, name]))
  let at = -1
  return (light?.text ?? '').replaceAll('{}', () => {
    at += 1
    const pair = `${light?.colors[at]} and ${dark?.colors[at]}`
    // How a mix is written differs between versions of Chromium.
    return names.get(pair) ?? (/^(oklab|oklch|color)\(/.test(pair) ? 'a mix' : pair)
  })
}

/** The places and sizes of all elements, to a tenth of a pixel. */
const allBoxes = `Array.from(document.querySelectorAll('main *'), (one) => {
  const { x, y, width, height } = one.getBoundingClientRect()
  return one.localName + ' ' + [x, y, width, height].map((value) => Math.round(value * 10) / 10)
})`

/** The share of pixels that differ between two pictures. Rounded corners are not drawn alike each time, even in one browser. */
const differingShare = `async (...pictures) => {
  const [a, b] = await Promise.all(pictures.map(async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], { type: 'image/png' }))
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    context.drawImage(bitmap, 0, 0)
    return new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer)
  }))
  return a.length === b.length ? a.reduce((sum, pixel, at) => sum + (pixel === b[at] ? 0 : 1), 0) / a.length : 1
}`

/** The first pixel within every swatch of a picture that differs from the color of its token. */
const wrongSwatches = `async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d')
  context.drawImage(bitmap, 0, 0)
  return Array.from(document.querySelectorAll('[data-kit^="color "] > span')).flatMap((swatch) => {
    const box = swatch.getBoundingClientRect()
    const drawn = Array.from(context.getImageData(box.x + ${PIXEL_MARGIN}, box.y + ${PIXEL_MARGIN}, 1, 1).data).slice(0, 3).join(', ')
    const wanted = getComputedStyle(swatch).backgroundColor
    return wanted === 'rgb(' + drawn + ')' ? [] : [swatch.parentElement.dataset.kit + ': ' + drawn + ' instead of ' + wanted]
  })
}`

async function openKit(theme: (typeof themes)[number]): Promise<Page> {
  const page = await stand.open('/app/_kit', { theme })
  await page.getByRole('heading', { name: 'Components' }).waitFor()
  // The page scrolls within its frame: a window as high as its content shows all of it.
  const height = await page.evaluate<number>('document.querySelector("h1").closest(".overflow-auto").scrollHeight')
  await page.setViewportSize({ width: 1280, height: height + 60 })
  await page.evaluate('document.fonts.ready')
  return page
}

describe.skipIf(browserPath === undefined)('the page of all components', () => {
  beforeAll(async () => {
    stand = await openStand()
  })
  afterEach(() => stand.endTest())
  afterAll(() => stand?.close())

  test('every state has the styles that are kept, by the names of the tokens, in both themes, and no fault that axe finds', async () => {
    const listings: string[] = []
    const values: Tokens[] = []
    for (const theme of themes) {
      const page = await openKit(theme)
      listings.push(await page.evaluate<string>(listing))
      values.push(await page.evaluate<Tokens>(tokens))
      expect(await axeFaults(page, theme)).toEqual([])
    }
    await expect(withTokens(listings, values)).toMatchFileSnapshot(LISTING)
  })

  test('a hint keeps a distance from its input', async () => {
    const page = await stand.open('/app/_kit')
    await page.getByRole('heading', { name: 'Components' }).waitFor()
    const distances = await page.evaluate<
      number[]
    >(`Array.from(document.querySelectorAll('label > :is(input, textarea, select) + span'), (hint) =>
      hint.getBoundingClientRect().top - hint.previousElementSibling.getBoundingClientRect().bottom)`)
    expect(distances.length).toBeGreaterThan(0)
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(4)
  })

  test('every render and both themes have the same boxes, and pictures differ by the theme alone, whose colors are drawn', async () => {
    const pages = [await openKit('light'), await openKit('light'), await openKit('dark')] as const
    const boxes = await Promise.all(pages.map((page) => page.evaluate<string[]>(allBoxes)))
    expect(boxes[0]?.length).toBeGreaterThan(300)
    expect(boxes[1]).toEqual(boxes[0])
    expect(boxes[2]).toEqual(boxes[0])
    const [light, again, dark] = await Promise.all(
      pages.map(async (page) => (await page.screenshot({ animations: 'disabled' })).toString('base64')),
    )
    const page = pages[0]
    expect(await page.evaluate<number>(`(${differingShare})('${light}', '${again}')`)).toBeLessThan(PIXEL_SHARE_MAX)
    expect(await page.evaluate<number>(`(${differingShare})('${light}', '${dark}')`)).toBeGreaterThan(0.9)
    expect(await page.evaluate<string[]>(`(${wrongSwatches})('${light}')`)).toEqual([])
    expect(await pages[2].evaluate<string[]>(`(${wrongSwatches})('${dark}')`)).toEqual([])
  })

  test.each(themes)('popovers and panels have no fault that axe finds, and close by Esc: %s', async (theme) => {
    const page = await stand.open('/app/_kit', { theme })
    for (const [opener, opened] of [
      ['Open popover', 'A popover'],
      ['Delete', 'Delete “Payments” and its history?'],
      ['Actions', 'Actions'],
      ['Open side panel', 'Context'],
      ['Control+k', 'Commands'],
    ] as const) {
      if (opener === 'Control+k') await page.keyboard.press(opener)
      else await page.getByRole('button', { name: opener, exact: true }).click()
      const shown = page.getByRole('dialog', { name: opened, exact: true })
      await shown.waitFor()
      expect(await axeFaults(page, `${opened}, ${theme}`, '[role=dialog]')).toEqual([])
      await page.keyboard.press('Escape')
      await shown.waitFor({ state: 'detached' })
    }
  })

  test('popovers and panels open within 120 ms, and nothing moves with reduced motion', async () => {
    for (const hasMotion of [true, false]) {
      const page = await stand.open('/app/_kit', { hasMotion })
      await page.getByRole('button', { name: 'Open popover' }).click()
      await page.getByRole('dialog', { name: 'A popover' }).waitFor()
      const durations = await page.evaluate<string[]>(`Array.from(document.querySelectorAll('*'), (one) => getComputedStyle(one))
        .flatMap(({ animationDuration, transitionDuration }) => [animationDuration, transitionDuration])`)
      expect(durations.flatMap((one) => one.split(', ')).filter((one) => Number.parseFloat(one) > (hasMotion ? 0.12 : 0))).toEqual([])
      expect(await page.evaluate<string>('getComputedStyle(document.querySelector("[role=dialog]")).animationDuration')).toBe(
        hasMotion ? '0.12s' : '0s',
      )
    }
  })

  test('no page links to it, and Explore loads neither its code nor more than 350 kB', async () => {
    const page = await stand.open('/app/explore')
    await page.locator('.cm-content').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('a[href*="_kit"]').count()).toBe(0)
    const loaded = await page.evaluate<
      [string, number][]
    >(`[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])
      .filter(([path]) => path.startsWith('/app'))`)
    expect(loaded.filter(([path]) => path.startsWith('/app/files/kit-'))).toEqual([])
    expect(loaded.some(([path]) => path.endsWith('.woff2'))).toBe(true)
    const named = new Set((await (await fetch(`${stand.app.url}/app/explore`)).text()).match(/\/app\/files\/[^"]+\.js/g))
    const first = loaded.filter(([path]) => named.has(path))
    expect(first.length).toBe(named.size)
    expect(first.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(FIRST_SCRIPTS_BYTES_MAX)
    // A file is the same compressed at build time, by the service, and not at all.
    const [script = ''] = loaded.map(([path]) => path).filter((path) => path.endsWith('.js'))
    const copies = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (encoding) => {
        const answer = await fetch(stand.app.url + script, { headers: { 'accept-encoding': encoding } })
        return [answer.headers.get('content-encoding'), answer.headers.get('vary'), await answer.text()]
      }),
    )
    expect(copies.map(([encoding, vary]) => [encoding, vary])).toEqual([
      ['br', 'accept-encoding'],
      ['gzip', 'accept-encoding'],
      [null, 'accept-encoding'],
    ])
    expect(new Set(copies.map(([, , text]) => text)).size).toBe(1)
    expect(loaded.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(EXPLORE_BYTES_MAX)
  })
})
