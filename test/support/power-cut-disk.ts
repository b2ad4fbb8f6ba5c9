import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const IMAGE_BYTES = 4 * 2 ** 30
const UNMOUNT_TRIES = 100
/** EXT4_IOC_SHUTDOWN with NOLOGFLUSH: from then on nothing reaches the disk, neither from memory nor from the journal. */
const SHUTDOWN = `open(my $dir, '<', $ARGV[0]) or die $!; my $how = pack('L', 2); ioctl($dir, 0x8004587d, $how) or die $!`

/** A file system whose power can be cut and restored. */
export type CuttableDisk = { dir: string; cut(): Promise<void>; restore(): Promise<void>; remove(): Promise<void> }

/** The reason why such a disk cannot be created here, if any. */
export async function whyNoDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'only Linux has the file system for it'
  if (process.getuid?.() !== 0) return 'it has to mount a file system, which only root may'
  try {
    const disk = await makeDisk()
    await disk.remove()
    return undefined
  } catch (cause) {
    return `a file system in a file could not be mounted (${cause instanceof Error ? cause.message.trim() : cause})`
  }
}

export async function makeDisk(): Promise<CuttableDisk> {
  const home = await mkdtemp(join(tmpdir(), 'dendro-power-'))
  const [image, dir] = [join(home, 'disk'), join(home, 'mounted')]
  await mkdir(dir)
  await writeFile(image, '')
  await truncate(image, IMAGE_BYTES)
  await run('mkfs.ext4', ['-q', '-F', image])
  const { stdout } = await run('losetup', ['--find', '--show', image])
  const device = stdout.trim()
  const mount = () => run('mount', ['-t', 'ext4', device, dir])
  await mount().catch(async (cause) => {
    await run('losetup', ['--detach', device])
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    throw cause
  })
  return {
    dir,
    cut: async () => {
      await run('perl', ['-e', SHUTDOWN, dir])
    },
    restore: async () => {
      await unmount(dir)
      await mount()
    },
    remove: async () => {
      await unmount(dir)
      await run('losetup', ['--detach', device])
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** Waits for the killed processes to close their files. */
async function unmount(dir: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await run('umount', [dir])
      return
    } catch (cause) {
      if (tries >= UNMOUNT_TRIES) throw cause
      await sleep(100)
    }
  }
}
