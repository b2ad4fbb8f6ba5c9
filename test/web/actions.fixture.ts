import type { Page } from 'playwright-core'

/** openAction chooses from the menu of actions of a page. */
export async function openAction(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('dialog', { name: 'Actions' }).getByText(name, { exact: true }).click()
}
