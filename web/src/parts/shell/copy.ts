/** A text that is known, or that an answer of the service brings; made when it is asked for. */
export type CopySource = string | (() => string | Promise<string>)

/** CopyRefused is thrown when the text is known, but the browser does not let the page copy it. */
export class CopyRefused extends Error {
  readonly text: string
  constructor(text: string, cause: unknown) {
    super('the browser did not allow the page to copy', { cause })
    this.text = text
  }
}

/**
 * Copies to the clipboard. It must be called within a click or a key: writing begins there, also where the text comes later, since the browser
 * allows it for some seconds only. What fails the text is thrown as it is.
 */
export async function copyText(text: string | Promise<string>): Promise<void> {
  const writing = beginWriting(text)
  // Its reason is read below, after that of the text.
  writing.catch(() => undefined)
  const known = await text
  try {
    await writing
  } catch (thrown) {
    if (!copyBySelection(known)) throw new CopyRefused(known, thrown)
  }
}

/** The Clipboard API is missing over plain HTTP, and its items, which may wait for their text, in older browsers. */
async function beginWriting(text: string | Promise<string>): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (!clipboard) throw new Error('the page has no clipboard')
  if (typeof text === 'string') return clipboard.writeText(text)
  if (typeof ClipboardItem === 'undefined' || !clipboard.write) return clipboard.writeText(await text)
  const type = 'text/plain'
  return clipboard.write([new ClipboardItem({ [type]: text.then((known) => new Blob([known], { type })) })])
}

/** Copies by the command of the browser and tells whether it did. A dialog keeps the focus within itself, so the text is put there. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('aria-hidden', 'true')
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const host = focused?.closest('[role=dialog]') ?? document.body
  host.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}
