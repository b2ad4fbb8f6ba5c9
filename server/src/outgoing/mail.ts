import { createTransport } from 'nodemailer'
import { unavailable } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'

/** A Mail with an id carries it as its message id, the same at every try, so that mail programs drop a second copy. */
export type Mail = { id?: string | undefined; to: string; subject: string; text: string; html: string; pictures?: readonly MailPicture[] }

/** A MailPicture goes with a mail; its HTML names it as `cid:` and the name. */
export type MailPicture = { name: string; png: Buffer }

/** A Mailer hands mail to the deployment's relay; `configured` is false when there is none, and sending then fails. */
export type Mailer = { configured: boolean; send(mail: Mail, signal?: AbortSignal): Promise<void> }

const MAIL_BOUND_MS = 20_000

/**
 * openMailer speaks to the configured relay; without one every send fails with a sentence that says so. A mail that was given up may still
 * arrive: the relay had it already, or takes it before the connection runs into its own bound.
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
