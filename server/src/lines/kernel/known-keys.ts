import { messageKeys, ORIGINAL_TIME, timeKeys } from '../reference/event.ts'
import { exceptionKeys, httpStatusKeys, levelKeys } from '../values/severity.ts'

/** In the order of assembly/roles.ts. The level key that is also a code of HTTP stands between the two. */
export const roles: readonly string[] = [
  '',
  ...timeKeys,
  ...messageKeys,
  ...levelKeys,
  ...httpStatusKeys.filter((key) => !levelKeys.includes(key)),
  ...exceptionKeys,
  ORIGINAL_TIME,
]

/** The keys of headers, in the order of assembly/names.ts. Their paths have the first numbers. */
export const headerKeys =
  'pri facility version hostname appname procid msgid message severity level stream partial thread caller tag vhost client_ip user method path protocol status bytes referer user_agent cef_version device_vendor device_product device_version signature_id name sequence'.split(
    ' ',
  )
