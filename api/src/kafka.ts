import { z } from 'zod'
import { list, text } from './values.ts'

const broker = text(3, 260).regex(/^[A-Za-z0-9._:-]+:[0-9]{1,5}$/, { error: 'must be host:port' })

const BROKERS_MAX = 20

/** How to reach a cluster of Kafka. */
export const kafkaAccess = {
  brokers: list(broker, { min: 1, max: BROKERS_MAX }).describe('Brokers of the cluster as `host:port`; one that answers suffices.'),
  tls: z.boolean().default(false),
  ca: text(1, 100_000).optional().describe('The certificate of an authority in PEM, instead of the usual ones.'),
  mechanism: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']).optional().describe('The form of the login (SASL). Default: PLAIN.'),
  username: text(1, 255).optional(),
  password: text(1, 1024)
    .optional()
    .describe('Encrypted, and returned as `***`. In an update, `***` keeps the password, unless the brokers or the username change.'),
}
