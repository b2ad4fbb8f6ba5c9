import { Chats } from './chats.tsx'
import { EmailTemplates } from './email-templates.tsx'
import { Webhooks } from './webhooks.tsx'

/** Integrations manages the destinations of notifications. */
export function Integrations() {
  return (
    <>
      <Webhooks />
      <Chats />
      <EmailTemplates />
    </>
  )
}
