import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** What the network does to a connection when the other side has just sent something. */
export type Mood = 'pass' | 'lose answers' | 'cut requests' | 'deaf'

export type BadNetwork = {
  url(target: string): string
  mood: Mood /** harm is the share of messages that the mood strikes */
  harm: number
  struck: number
  close(): Promise<void>
}

const GOLDEN_RATIO = 0.618_033_988_749_895

/** A proxy between a program and a server on loopback that breaks their connections. */
export async function startBadNetwork(targetPort: number): Promise<BadNetwork> {
  const sockets = new Set<Socket>()
  let round = 0

  const strikes = (mood: Mood): boolean => {
    if (network.mood !== mood) return false
    round += 1
    // Evenly spread, so that every run fails equally often, but not in step with a client that repeats a fixed number of requests.
    if ((round * GOLDEN_RATIO) % 1 >= network.harm) return false
    network.struck += 1
    return true
  }

  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      // In a deaf network the end of one side does not reach the other either.
      const lost = (): void => (network.mood === 'deaf' ? undefined : end())
      socket.on('error', lost).on('close', () => {
        sockets.delete(socket)
        lost()
      })
    }
    near.on('data', (bytes) => {
      if (network.mood === 'deaf') return
      if (!strikes('cut requests')) return void far.write(bytes)
      far.write(bytes.subarray(0, Math.floor(bytes.length / 2)), end)
    })
    far.on('data', (bytes) => {
      if (network.mood === 'deaf') return
      if (strikes('lose answers')) end()
      else near.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0

  const network: BadNetwork = {
    mood: 'pass',
    harm: 1,
    struck: 0,
    url: (target) => {
      const url = new URL(target)
      url.port = String(port)
      return url.href
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return network
}
