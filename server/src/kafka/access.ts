import { badField } from '../kernel/errors.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { type KafkaMechanism, type KafkaSettings, peerOf } from './connection.ts'

/** How callers say to reach a cluster. The password is kept apart. */
export type KafkaAccess = {
  readonly brokers: readonly string[]
  readonly tls: boolean
  readonly ca?: string | undefined
  readonly mechanism?: KafkaMechanism | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Refuses settings that contradict each other, and brokers that can never be connected to; `field` precedes their names. */
export function checkKafkaAccess(
  outgoing: Outgoing,
  { brokers, username, password, mechanism, tls, ca }: KafkaAccess,
  field: string,
): void {
  for (const [at, broker] of brokers.entries()) outgoing.checkPeer(peerOf(broker), `${field}brokers.${at}`)
  if ((username === undefined) !== (password === undefined)) throw badField(`${field}password`, 'and username belong together')
  if (mechanism !== undefined && username === undefined) throw badField(`${field}mechanism`, 'needs a username')
  if (ca !== undefined && !tls) throw badField(`${field}ca`, 'needs tls')
}

export const kafkaSettings = (
  { brokers, tls, ca, mechanism = 'PLAIN', username }: KafkaAccess,
  password: string | undefined,
): KafkaSettings => ({
  brokers,
  tls,
  ca,
  ...(username === undefined || password === undefined ? {} : { login: { mechanism, username, password } }),
})

/** True where a password of one may be used for the other. */
export const isSameAccount = (one: KafkaAccess, other: KafkaAccess): boolean =>
  one.username === other.username && one.brokers.join() === other.brokers.join() && one.tls === other.tls
