import { randomHex, type Log, type Outbound, type Settings } from '@troupe/kernel';

/** A live stream that an agent can send to; `real` is false for credentials that lead nowhere. */
export interface LiveStream {
  streamKey: string;
  liveStreamId: string;
  rtmpServer: string;
  playbackUrl: string | null;
  real: boolean;
}

type LiveSettings = Pick<Settings, 'LIVESTREAM_TOKEN_ID' | 'LIVESTREAM_TOKEN_SECRET' | 'LIVESTREAM_API_BASE'>;

const RTMP_SERVER = 'rtmps://global-live.mux.com:443/app';
const TIMEOUT_MS = 8000;

interface Created {
  data?: { id?: string; stream_key?: string; playback_ids?: { id: string }[] };
}

export interface LiveStreamDeps {
  settings: LiveSettings;
  /** For the operator's own addresses. */
  outbound: Pick<Outbound, 'fetch'>;
  log: Log;
}

export function createLiveStreams({ settings, outbound, log }: LiveStreamDeps) {
  const { LIVESTREAM_TOKEN_ID: id, LIVESTREAM_TOKEN_SECRET: secret, LIVESTREAM_API_BASE: base } = settings;

  const placeholder = (): LiveStream => ({
    streamKey: `placeholder-${randomHex(16)}`,
    liveStreamId: `placeholder-${randomHex(8)}`,
    rtmpServer: RTMP_SERVER,
    playbackUrl: null,
    real: false,
  });

  async function create(): Promise<LiveStream> {
    const response = await outbound.fetch(`${base}/video/v1/live-streams`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ playback_policy: ['public'], new_asset_settings: { playback_policy: ['public'] } }),
      timeout: TIMEOUT_MS,
    });
    if (response.status < 200 || response.status > 299) {
      response.cancel();
      throw new Error(`HTTP ${response.status} creating a live stream`);
    }
    const { data } = (await response.json()) as Created;
    if (!data?.id || !data.stream_key) throw new Error('the live-stream service answered without a stream');
    const playback = data.playback_ids?.[0]?.id;
    return {
      streamKey: data.stream_key,
      liveStreamId: data.id,
      rtmpServer: RTMP_SERVER,
      playbackUrl: playback === undefined ? null : `https://stream.mux.com/${playback}.m3u8`,
      real: true,
    };
  }

  return async (): Promise<LiveStream> => {
    if (!id || !secret) return placeholder();
    try {
      return await create();
    } catch (err) {
      // An agent without a stream is worth more than no agent.
      log.error({ err }, 'no live stream could be created');
      return placeholder();
    }
  };
}
