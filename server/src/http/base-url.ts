import type { IncomingHttpHeaders } from 'node:http'

const NOWHERE = 'http://localhost'

/**
 * readBaseUrl is where the caller believes us to be: what a proxy in front says, else the Host header. It is only used when the
 * deployment has not named its address, and only as a start of links in answers to this caller.
 */
export function readBaseUrl(headers: IncomingHttpHeaders): string {
  const scheme = firstOf(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http'
  const host = firstOf(headers['x-forwarded-host']) ?? headers.host
  return host !== undefined && isHost(host) ? `${scheme}://${host}` : NOWHERE
}

const firstOf = (header: string | string[] | undefined): string | undefined => {
  const text = Array.isArray(header) ? header[0] : header
  return text?.split(',')[0]?.trim() || undefined
}

const isHost = (text: string): boolean => text.length <= 255 && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)
