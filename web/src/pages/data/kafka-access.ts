import type { KafkaOrigin } from '@dendro/api'
import { filled } from './filled.ts'

export type KafkaLogin = NonNullable<KafkaOrigin['mechanism']>

/** How to reach a cluster of Kafka, while it is edited. */
export type KafkaDraft = {
  readonly brokers: string
  readonly topic: string
  readonly tls: boolean
  readonly ca: string
  readonly mechanism: KafkaLogin | ''
  readonly username: string
  readonly password: string
}

export const newKafka: KafkaDraft = { brokers: '', topic: '', tls: false, ca: '', mechanism: '', username: '', password: '' }

type KafkaAccess = Pick<KafkaOrigin, 'brokers' | 'topic' | 'tls' | 'ca' | 'mechanism' | 'username' | 'password'>

export const kafkaDraftOf = ({ brokers, topic, tls, ca, mechanism, username, password }: KafkaAccess): KafkaDraft => ({
  brokers: brokers.join(', '),
  topic,
  tls,
  ca: ca ?? '',
  mechanism: mechanism ?? '',
  username: username ?? '',
  password: password ?? '',
})

export const kafkaBody = ({ brokers, topic, tls, ca, mechanism, username, password }: KafkaDraft) => ({
  brokers: brokers.split(/[\s,]+/).filter((one) => one !== ''),
  topic: topic.trim(),
  tls,
  ...filled({ ca, username }),
  ...(mechanism === '' ? {} : { mechanism }),
  ...(password === '' ? {} : { password }),
})

export const missingInKafka = ({ brokers, topic }: KafkaDraft): string | undefined =>
  brokers.trim() === '' ? 'a broker' : topic.trim() === '' ? 'a topic' : undefined
