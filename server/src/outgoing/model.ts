import { z } from 'zod'
import { unavailable } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'
import { parseAllowList } from './addresses.ts'
import { openOutgoing } from './outgoing.ts'

/** The optional language model. Calls fail when `configured` is false. */
export type LanguageModel = {
  configured: boolean
  complete(ask: { system: string; user: string; tokensMax: number }, signal: AbortSignal): Promise<string>
}

/** The timeout of one call. */
const BOUND_MS = 60_000
const REPLY_BYTES_MAX = 2 ** 20

type Settings = { url: string | undefined; key: Secret | undefined; name: string | undefined }

const Completion = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1) })

/**
 * Opens a client for the configured model (DENDRO_LLM_URL), which must offer the chat completions API. Requests go to the configured host
 * only, which may have a private address.
 */
export function openModel({ url, key, name }: Settings, { ownPorts }: { ownPorts: () => readonly number[] }): LanguageModel {
  if (url === undefined) {
    return {
      configured: false,
      complete: async () => {
        throw unavailable('no model is configured (DENDRO_LLM_URL)')
      },
    }
  }
  const allowed = parseAllowList(new URL(url).hostname.replace(/^\[|\]$/g, ''))
  const outgoing = openOutgoing({ allowed, ownPorts, boundMs: BOUND_MS, replyBytesMax: REPLY_BYTES_MAX })
  return {
    configured: true,
    complete: async ({ system, user, tokensMax }, signal) => {
      const request = {
        url: `${url}/chat/completions`,
        headers: { ...(key && { authorization: `Bearer ${key.reveal()}` }) },
        body: JSON.stringify({
          ...(name === undefined ? {} : { model: name }),
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
          max_tokens: tokensMax,
          temperature: 0,
        }),
      }
      const { status, body } = await outgoing.post(request, signal)
      if (status !== 200) throw unavailable(`the model answered with status ${status}`)
      return textIn(body)
    },
  }
}

function textIn(body: string): string {
  try {
    return Completion.parse(JSON.parse(body)).choices[0]?.message.content ?? ''
  } catch (cause) {
    throw unavailable('the model returned an invalid completion', { cause })
  }
}
