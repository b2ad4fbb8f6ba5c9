import { accessLogs } from './formats/access-logs.ts'
import { application } from './formats/application.ts'
import { kubernetes } from './formats/kubernetes.ts'
import { service } from './formats/service.ts'
import { syslog } from './formats/syslog.ts'
import type { ContentPack } from './pack.ts'

/** Every content pack. */
export const contentPacks: readonly ContentPack[] = [accessLogs, kubernetes, syslog, application, service]
