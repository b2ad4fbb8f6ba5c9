/** An object of which a notification says that it was created. The tag is empty where it does not say it. */
export type NotedObject = {
  readonly bucket: string
  readonly key: string
  readonly tag: string
  readonly size: number | undefined
  readonly modifiedMs: number
}

type Notification =
  | { readonly kind: 'objects'; readonly objects: readonly NotedObject[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** A topic or an event bus may hand on the notification of a bucket in a message of its own. */
const WRAPPERS_MAX = 2
const OBJECTS_MAX = 1_000
const CREATED = /^(?:s3:)?ObjectCreated:/
const CREATED_ON_BUS = 'Object Created'
const TEST_EVENT = 's3:TestEvent'

/** Reads a message of a queue: a notification of a bucket, as it is or as a topic (SNS) or an event bus (EventBridge) hands it on. */
export function readNotification(body: string): Notification {
  let text = body
  for (let wrappers = 0; wrappers <= WRAPPERS_MAX; wrappers += 1) {
    const message = objectIn(text)
    if (!message) return unreadable('it is not a JSON object')
    if (Array.isArray(message.Records)) return objectsOf(message.Records.map(recordIn))
    if (message.Event === TEST_EVENT) return { kind: 'objects', objects: [] }
    if (typeof message['detail-type'] === 'string') return objectsOf([eventIn(message)])
    if (typeof message.Message !== 'string') break
    text = message.Message
  }
  return unreadable('it has neither records nor a detail')
}

type Fields = Readonly<Record<string, unknown>>
/** `ignored` is an event of another kind, as those of deletions. */
type ReadRecord = NotedObject | 'ignored' | undefined

const unreadable = (reason: string): Notification => ({ kind: 'unreadable', reason })

function objectsOf(records: readonly ReadRecord[]): Notification {
  if (records.length > OBJECTS_MAX) return unreadable(`it has more than ${OBJECTS_MAX} records`)
  if (records.includes(undefined)) return unreadable('a record in it lacks its bucket, key or time')
  return { kind: 'objects', objects: records.filter((record) => record !== undefined && record !== 'ignored') }
}

function recordIn(record: unknown): ReadRecord {
  const { eventName, eventTime, s3 } = fieldsOf(record)
  if (typeof eventName !== 'string') return undefined
  if (!CREATED.test(eventName)) return 'ignored'
  const { key, ...object } = fieldsOf(fieldsOf(s3).object)
  return objectFrom(
    fieldsOf(s3).bucket,
    { ...object, tag: object.eTag, key: typeof key === 'string' ? decodedKey(key) : undefined },
    eventTime,
  )
}

function eventIn(event: Fields): ReadRecord {
  if (event['detail-type'] !== CREATED_ON_BUS) return 'ignored'
  const { bucket, object } = fieldsOf(event.detail)
  return objectFrom(bucket, { ...fieldsOf(object), tag: fieldsOf(object).etag }, event.time)
}

function objectFrom(place: unknown, { key, size, tag }: Fields, time: unknown): ReadRecord {
  const { name: bucket } = fieldsOf(place)
  const modifiedMs = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (typeof bucket !== 'string' || typeof key !== 'string' || key === '' || Number.isNaN(modifiedMs)) return undefined
  return {
    bucket,
    key,
    tag: typeof tag === 'string' ? tag.replaceAll('"', '') : '',
    size: typeof size === 'number' && size >= 0 ? size : undefined,
    modifiedMs,
  }
}

/** Keys are encoded as values of forms are. */
function decodedKey(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
