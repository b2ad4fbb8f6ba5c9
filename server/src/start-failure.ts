/**
 * startFailure makes of what kept a start from its end one sentence that says what is wrong and what to do. Our own errors say both already;
 * those of the system name a call and a number.
 */
export function startFailure(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(String(thrown))
  if (!isSystemError(thrown)) return thrown
  const sentence = ADDRESS_CALLS.has(thrown.syscall) ? ofAddress(thrown) : ofFile(thrown)
  return sentence === undefined ? thrown : new Error(sentence, { cause: thrown })
}

type SystemError = Error & { code: string; syscall: string; path?: string; address?: string; hostname?: string; port?: number }

const isSystemError = (error: Error): error is SystemError =>
  'code' in error && typeof error.code === 'string' && 'syscall' in error && typeof error.syscall === 'string'

const ADDRESS_CALLS: ReadonlySet<string> = new Set(['listen', 'bind', 'getaddrinfo'])

function ofAddress({ code, address, hostname, port }: SystemError): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is taken by another program; choose one by DENDRO_PORT'
    case 'EACCES':
      return `port ${port} is not for ordinary users; choose one from 1024 by DENDRO_PORT and put a proxy before it`
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${address ?? hostname}; set DENDRO_HOST to one that it has, as 127.0.0.1, or 0.0.0.0 for all`
    default:
      return undefined
  }
}

function ofFile({ code, path = 'a file' }: SystemError): string | undefined {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `this user may not use ${path}; give it to the user that Dendro runs as, or choose another data directory by DENDRO_DATA_DIR`
    case 'EROFS':
      return `${path} lies on a disk that cannot be written; choose another data directory by DENDRO_DATA_DIR`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk of ${path} is full; free some space and start again`
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} is needed as a directory and is something else; remove it, or choose another data directory by DENDRO_DATA_DIR`
    case 'ENOENT':
      return `${path} cannot be made there; choose another data directory by DENDRO_DATA_DIR`
    case 'EIO':
      return `the disk of ${path} does not work; choose another data directory by DENDRO_DATA_DIR and restore a backup`
    case 'EMFILE':
    case 'ENFILE':
      return 'too few files may be open at once; raise the limit (ulimit -n, or LimitNOFILE of systemd) to 65536'
    default:
      return undefined
  }
}
