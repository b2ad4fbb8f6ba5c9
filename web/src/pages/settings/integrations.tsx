import { Chats } from './chats.tsx'
import { EmailTemplates } from './email-templates.tsx'
import { Webhooks } from './webhooks.tsx'

/** Integrations are whom the service speaks to when a monitor has something to say. */
export function Integrations() {
  return (
    <>
      <Webhooks />
      <Chats />
      <EmailTemplates />
    </>
  )
}
