const PROTOCOLS = ['http:', 'https:', 'mailto:']

/** The address of a link in words that anybody may have written; undefined for one that could run a script or is none. */
export function safeLink(href: string, base: string): string | undefined {
  if (!URL.canParse(href, base)) return undefined
  const address = new URL(href, base)
  return PROTOCOLS.includes(address.protocol) ? address.href : undefined
}
