/** One NUL byte, as older senders expect it for each of their datagrams. */
const ALIVE = new Uint8Array(1)

/** Answers the heartbeats of older Forward senders, which come as datagrams. They carry no events. */
export const answerHeartbeat = (_datagram: Uint8Array, _source: unknown, reply: (bytes: Uint8Array) => void): void => reply(ALIVE)
