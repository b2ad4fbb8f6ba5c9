import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** An Asset is a file of the pages; its address contains a hash of its text, so that browsers may cache it. */
export type Asset = { text: string; address: string }

function asset(name: string): Asset {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { text, address: `/docs/${name}?v=${version}` }
}

export const style = asset('reference.css')
export const script = asset('reference.js')
export const icon = asset('icon.svg')
export const invitationScript = asset('../invitation/invitation.js')
