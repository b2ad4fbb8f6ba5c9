import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const PG_USER = 'dendro'
export const PG_PORT = 5432
const DATABASE = 'postgres'
/** The limit of the operating system for socket paths, without the terminating zero. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107

/** Returns a directory in the data directory, or a short temporary directory when the socket path would be too long. */
export function socketDirOf(metaDir: string): string {
  const near = join(metaDir, 'run')
  const isShort = Buffer.byteLength(join(near, `.s.PGSQL.${PG_PORT}`)) <= SOCKET_PATH_BYTES_MAX
  return isShort ? near : join(tmpdir(), `dendro-${createHash('sha256').update(metaDir).digest('hex').slice(0, 16)}`)
}

/** The connection URL over the socket. No password, because only the owner can access the directory. */
export const socketUrl = (socketDir: string): string =>
  `postgresql://${PG_USER}@localhost:${PG_PORT}/${DATABASE}?host=${encodeURIComponent(socketDir)}`

/** Creates the directory for its owner only, and refuses one that another user created there. */
export async function makeSocketDir(dir: string): Promise<void> {
  await mkdir(dir, { mode: 0o700 }).catch((cause) => {
    if (cause.code !== 'EEXIST') throw cause
  })
  const found = await lstat(dir)
  const own = process.getuid?.()
  if (!found.isDirectory() || (own !== 0 && found.uid !== own)) {
    throw new Error(
      `${dir}, where the socket of the metadata store belongs, is someone else's: remove it, or choose a shorter data directory`,
    )
  }
  await chmod(dir, 0o700)
}
