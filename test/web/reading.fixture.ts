import type { CDPSession, Page } from 'playwright-core'

/** A Part is a node of the tree that a screen reader reads. */
type Part = { role: string; name: string; level: number | undefined; isFocusable: boolean; isDisabled: boolean; live: string | undefined }

type AxValue = { value?: unknown }
type AxNode = { ignored: boolean; role?: AxValue; name?: AxValue; properties?: readonly { name: string; value: AxValue }[] }

const CONTROLS = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'tab'],
  ...['menuitem', 'menuitemcheckbox', 'menuitemradio', 'listbox', 'DisclosureTriangle'],
])
const NAMED = new Set(['image', 'region', 'navigation', 'dialog', 'alertdialog', 'table', 'figure', 'form'])
/** What the page as a whole has exactly once. */
const ONCE = ['banner', 'main', 'heading 1'] as const

/** readTree is what a screen reader finds on a page, in its order. */
export async function readTree(cdp: CDPSession): Promise<Part[]> {
  const { nodes } = (await cdp.send('Accessibility.getFullAXTree')) as { nodes: readonly AxNode[] }
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => {
      const property = (of: string) => properties.find((one) => one.name === of)?.value.value
      const level = property('level')
      const live = property('live')
      return {
        role: String(role?.value ?? ''),
        name: String(name?.value ?? '').trim(),
        level: typeof level === 'number' ? level : undefined,
        isFocusable: property('focusable') === true,
        isDisabled: property('disabled') === true,
        live: typeof live === 'string' && live !== 'off' ? live : undefined,
      }
    })
}

/** readingFaults are what keeps somebody who reads with the ears and works with the keys from using a page. */
export function readingFaults(parts: readonly Part[]): string[] {
  const nameless = parts.filter(({ role, name }) => name === '' && (CONTROLS.has(role) || NAMED.has(role)))
  const unreached = parts.filter(({ role, isFocusable, isDisabled }) => CONTROLS.has(role) && !isFocusable && !isDisabled)
  const all = parts.map(({ role, level }) => (role === 'heading' ? `heading ${level}` : role))
  const navigations = parts.filter(({ role }) => role === 'navigation').map(({ name }) => name)
  return [
    ...nameless.map(({ role }) => `a ${role} has no name`),
    ...unreached.map(({ role, name }) => `the ${role} "${name}" is not reached by keyboard`),
    ...ONCE.filter((one) => all.filter((other) => other === one).length !== 1).map((one) => `there is not exactly one ${one}`),
    ...(navigations.includes('Pages') ? [] : ['there is no navigation "Pages"']),
    ...navigations.filter((name, at) => navigations.indexOf(name) !== at).map((name) => `two navigations have the name "${name}"`),
  ]
}

/** What a pointer is invited to click, and no key reaches. A value within a line is reached in the details of its event. */
const pointerOnly = `Array.from(document.querySelectorAll('main *'), (one) => {
  if (getComputedStyle(one).cursor !== 'pointer' || one.getClientRects().length === 0) return []
  const reached = one.closest('a[href], button, input, select, textarea, summary, label, [tabindex]')
  return reached ? [] : [one.outerHTML.slice(0, 160)]
}).flat()`

export const pointerOnlyParts = (page: Page): Promise<string[]> => page.evaluate<string[]>(pointerOnly)
