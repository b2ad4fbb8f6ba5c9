/** copyText puts a text into the clipboard, also where the page came without encryption and browsers keep their clipboard to themselves. */
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
