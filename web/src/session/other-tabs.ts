import { type Credential, forgetCredential, keepCredential, keepForThisTab, keptCredential } from './session.ts'

/** Messages between the tabs of one browser. Only pages of this service can read them. */
type TabMessage =
  | { kind: 'request' }
  | { kind: 'credential'; credential: Credential }
  | { kind: 'signed in'; credential: Credential }
  | { kind: 'signed out' }

const CHANNEL = 'dendro.session'
/** How long a new tab waits for a tab that is signed in. */
const ANSWER_MS = 250
/** How long the sign-in page still takes an answer. */
const LATE_MS = 60_000

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

/**
 * Signs this tab in like another tab of the browser; false if none answers soon. A tab in the background of a busy machine answers late: then the page
 * that was asked for takes the place of the sign-in, unless the user was faster.
 */
export function takeFromOtherTab(onLate: () => void): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const channel = new BroadcastChannel(CHANNEL)
  let isLate = false
  const soon = setTimeout(() => {
    isLate = true
    resolve(false)
  }, ANSWER_MS)
  const end = setTimeout(() => channel.close(), LATE_MS)
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind !== 'credential') return
    clearTimeout(soon)
    clearTimeout(end)
    channel.close()
    if (isLate && keptCredential()) return
    keepCredential(data.credential, false)
    if (isLate) onLate()
    else resolve(true)
  }
  post(channel, { kind: 'request' })
  return promise
}

/** announceSignIn gives the credential of this tab to tabs whose session has ended and that wait for it. */
export function announceSignIn(credential: Credential): void {
  const channel = new BroadcastChannel(CHANNEL)
  post(channel, { kind: 'signed in', credential })
  channel.close()
}

/** awaitSignIn signs this tab in again when another tab of the browser does, so that what was typed here is not lost. */
export function awaitSignIn(): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'signed in') keepForThisTab(data.credential)
  }
  return () => channel.close()
}

/** signOutOtherTabs ends the session in every tab of the browser. */
export function signOutOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL)
  post(channel, { kind: 'signed out' })
  channel.close()
}
