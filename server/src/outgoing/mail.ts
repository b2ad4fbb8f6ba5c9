import { createTransport } from 'nodemailer'
import { unavailable } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'

/** An id becomes the Message-ID. It is the same for every attempt, so that mail clients drop duplicates. */
export type MailMessage = {
  id?: string | undefined
  to: string
  subject: string
  text: string
  html: string
  pictures?: readonly MailPicture[]
}

/** An inline image. The HTML refers to it as `cid:<name>`. */
export type MailPicture = { name: string; png: Buffer }

/** Sends mail through the configured relay. Sending fails when `configured` is false. */
export type Mailer = { configured: boolean; send(mail: MailMessage, signal?: AbortSignal): Promise<void> }

const MAIL_BOUND_MS = 20_000

/**
 * Opens the connection to the mail relay (DENDRO_SMTP_URL). A mail whose sending timed out may still arrive, because the relay may already
 * have it.
 */
export function openMailer(options: { url: Secret | undefined; from: string }): Mailer {
  if (!options.url) {
    return {
      configured: false,
      send: async () => {
        throw unavailable('no mail relay is configured (DENDRO_SMTP_URL)')
      },
    }
  }
  const transport = createTransport(
    {
      url: options.url.reveal(),
      connectionTimeout: MAIL_BOUND_MS,
      greetingTimeout: MAIL_BOUND_MS,
      socketTimeout: MAIL_BOUND_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from: options.from },
  )
  return {
    configured: true,
    send: async (mail, signal) => {
      const bound = AbortSignal.timeout(MAIL_BOUND_MS)
      const limit = signal ? AbortSignal.any([signal, bound]) : bound
      limit.throwIfAborted()
      await Promise.race([
        transport.sendMail({
          ...(mail.id === undefined ? {} : { messageId: `<${mail.id}@dendro>` }),
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          attachments: (mail.pictures ?? []).map(({ name, png }) => ({
            cid: name,
            filename: `${name}.png`,
            content: png,
            contentType: 'image/png',
            contentDisposition: 'inline' as const,
          })),
        }),
        new Promise<never>((_resolve, reject) => limit.addEventListener('abort', () => reject(limit.reason), { once: true })),
      ])
    },
  }
}
