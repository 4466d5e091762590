import type { MediaPart } from '../sample/content.ts'
import type { MediaReference } from '../sample/input.ts'
import { materialize } from '../sample/media.ts'
import { currentTask } from './enqueue.ts'

/**
 * Reads media that a task's own code vouches for, so that a sample that is added while the task runs may have them in its input. Relative paths
 * start at the task's folder in code of a running task, else at the working directory. What kind of file it is, its bytes tell.
 * @throws BelljarError `media-refused` for what is too large (50 MiB unless `maxBytes` says otherwise), empty or of another type, `download-failed`; ConfigError for a file that cannot be read
 */
export function materializeMedia(
  reference: MediaReference,
  options: { readonly signal?: AbortSignal; readonly maxBytes?: number } = {},
): Promise<MediaPart> {
  return materialize(reference, { directory: currentTask()?.directory ?? process.cwd(), ...options })
}
