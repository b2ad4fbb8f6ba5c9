import type { MailMessage } from '../../../outgoing/mail.ts'
import type { UserRow } from './rows.ts'

const words = {
  invitation: {
    subject: 'Your invitation to Dendro',
    opening: (user: UserRow) => `${inviterOf(user)} has invited you to Dendro. Choose a password to begin:`,
    action: 'Accept the invitation',
    closing: 'If you did not expect this, you need not do anything.',
  },
  reset: {
    subject: 'Choose a new password for Dendro',
    opening: () => 'An administrator has asked us to let you choose a new password for Dendro:',
    action: 'Choose a new password',
    closing: 'Until you do, the old password holds.',
  },
} as const

/** The name of an API key means nothing to the one who is invited. */
const inviterOf = ({ invited_by }: UserRow): string => (invited_by?.includes('@') ? oneLine(invited_by) : 'An administrator')

/** Builds the mail with the one-time link, as text and HTML. */
export function invitationMail(kind: 'invitation' | 'reset', user: UserRow, link: { url: string; validDays: number }): MailMessage {
  const { subject, opening, action, closing } = words[kind]
  const greeting = `Hello ${oneLine(user.first_name)},`
  const terms = `The link works once and for ${link.validDays} days. ${closing}`
  return {
    to: user.email,
    subject,
    text: [greeting, opening(user), link.url, terms, ''].join('\n\n'),
    html: [
      '<!doctype html>',
      '<html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      `<p>${escaped(greeting)}</p>`,
      `<p>${escaped(opening(user))}</p>`,
      `<p><a href="${escaped(link.url)}">${escaped(action)}</a></p>`,
      `<p>${escaped(terms)}</p>`,
      `<p style="color:#666">${escaped(link.url)}</p>`,
      '</body></html>',
    ].join('\n'),
  }
}

/** Removes line breaks and control characters, so that a name cannot add lines to a mail. */
const oneLine = (name: string): string => name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()

const entities: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }),
)
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
