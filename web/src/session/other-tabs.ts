import { type Credential, forgetCredential, keepCredential, keptCredential } from './session.ts'

/** Messages between the tabs of one browser. Only pages of this service can read them. */
type TabMessage = { kind: 'request' } | { kind: 'credential'; credential: Credential } | { kind: 'signed out' }

const CHANNEL = 'dendro.session'
/** How long a new tab waits for a tab that is signed in. */
const ANSWER_MS = 250

const post = (channel: BroadcastChannel, message: TabMessage): void => channel.postMessage(message)

/** Gives a new tab the credential of this one, and signs out together with the others. */
export function answerOtherTabs(onSignedOut: () => void): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const credential = keptCredential()
    if (!credential) return
    if (data.kind === 'request') post(channel, { kind: 'credential', credential })
    if (data.kind === 'signed out') {
      forgetCredential()
      onSignedOut()
    }
  }
}

/** Signs this tab in like another tab of the browser; false if none is signed in. */
export function takeFromOtherTab(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const channel = new BroadcastChannel(CHANNEL)
  const finish = (isFound: boolean) => {
    clearTimeout(timer)
    channel.close()
    resolve(isFound)
  }
  const timer = setTimeout(() => finish(false), ANSWER_MS)
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind !== 'credential') return
    keepCredential(data.credential, false)
    finish(true)
  }
  post(channel, { kind: 'request' })
  return promise
}

/** signOutOtherTabs ends the session in every tab of the browser. */
export function signOutOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL)
  post(channel, { kind: 'signed out' })
  channel.close()
}
