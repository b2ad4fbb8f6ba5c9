import type { ForwardDestination } from '@dendro/api'

export const destinationKinds: Readonly<Record<ForwardDestination['destination_type'], string>> = {
  S3: 'Bucket',
  HTTP: 'URL',
  KAFKA: 'Kafka',
}

/** Where events go, in a line. */
export function destinationText(destination: ForwardDestination): string {
  if (destination.destination_type === 'HTTP') return destination.url
  if (destination.destination_type === 'KAFKA') return `${destination.topic} at ${destination.brokers.join(', ')}`
  const { bucket, prefix, endpoint } = destination
  return `${[bucket, prefix?.replace(/\/+$/, '')].filter((part) => part).join('/')}${endpoint === undefined ? '' : ` at ${endpoint}`}`
}
