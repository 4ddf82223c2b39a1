import { SKILL_BOUNDS } from '@troupe/domain';
import { AppError, OutboundError, type Outbound } from '@troupe/kernel';

const TIMEOUT_MS = 30_000;

interface Place {
  url: string;
  path?: string | undefined;
}

/** What people copy from GitHub is a page: the archive of its branch, and the folder in it. */
export function archiveOf({ url, path }: Place): Place {
  const page =
    /^https:\/\/github\.com\/([\w.-]+)\/([\w.-]+?)(?:\.git)?(?:\/(?:tree|blob)\/([\w.-]+)(?:\/(.*))?)?\/?$/.exec(url);
  if (!page) return { url, path };
  const [, owner, repo, branch = 'HEAD', folder] = page;
  const within = folder?.replace(/\/?SKILL\.md$/, '').replace(/\/+$/, '');
  return {
    url: `https://codeload.github.com/${owner}/${repo}/zip/${branch}`,
    path: path ?? (within ? decodeURIComponent(within) : undefined),
  };
}

/** Through the guarded client: only public addresses, in time, and not more than a skill may be. */
export async function fetchSkillFrom(outbound: Outbound, given: Place): Promise<{ bytes: Uint8Array; path?: string }> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError(400, `The address cannot be fetched: ${why}`, {}, { cause });
  let place: Place;
  try {
    if (!/^https?:$/.test(new URL(given.url).protocol)) throw new TypeError('no such protocol');
    place = archiveOf(given);
  } catch (error) {
    throw refuse('it is no address on the web', error);
  }
  try {
    const response = await outbound.fetch(place.url, { timeout: TIMEOUT_MS, maxBytes: SKILL_BOUNDS.archiveBytes });
    if (response.status !== 200) {
      response.cancel();
      throw refuse(`it answered ${response.status}`);
    }
    return { bytes: await response.bytes(), ...(place.path !== undefined && { path: place.path }) };
  } catch (error) {
    if (error instanceof OutboundError) throw refuse(error.message, error);
    throw error;
  }
}
