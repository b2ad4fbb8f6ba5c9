import type { Page } from 'playwright-core'

const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
]
const folder = process.env.DENDRO_PICTURES

/** Takes pictures of a page as it stands in both themes and two widths, into the folder that DENDRO_PICTURES names; without it nothing happens. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const size = page.viewportSize()
  if (!folder || !size) return
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    for (const one of SIZES) {
      await page.setViewportSize(one)
      await page.screenshot({ path: `${folder}/${name}-${theme}-${one.width}.png`, animations: 'disabled' })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(size)
}
