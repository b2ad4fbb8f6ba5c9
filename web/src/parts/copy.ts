/** copyText copies to the clipboard, also over plain HTTP, where the Clipboard API is not available. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const place = document.createElement('textarea')
  place.value = text
  place.style.position = 'fixed'
  place.style.opacity = '0'
  document.body.append(place)
  place.select()
  document.execCommand('copy')
  place.remove()
}
