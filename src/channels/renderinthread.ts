import { createFairQueue } from '../kernel/fairqueue.js';
import { inThread } from '../kernel/threadtask.js';
import type { ChannelMessage, OutboundPlatform, PlatformBody } from '../providers/chat/platform.js';

export interface RenderInput {
  kind: OutboundPlatform['kind'];
  message: ChannelMessage;
}

/** Characters rendered on the event loop; the worst case takes about 30 ms. */
const MAX_INLINE_LENGTH = 2_000;
/** Messages are sent one by one anyway. */
const threads = createFairQueue({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });
/** The worst text of 100,000 characters takes a second. */
const LIMIT_MS = 30_000;
const FILE = new URL('./renderthread.js', import.meta.url);

/** Long texts are rendered in a thread: hostile Markdown may take a second. */
export const renderInThread = async (
  platform: OutboundPlatform,
  message: ChannelMessage,
): Promise<PlatformBody[]> => {
  if (message.text.length <= MAX_INLINE_LENGTH) return platform.render(message);
  const input: RenderInput = { kind: platform.kind, message };
  const failure = 'Could not render a message';
  return threads.take(platform.kind, () =>
    inThread<PlatformBody[]>({ file: FILE, input, limitMs: LIMIT_MS, failure }),
  );
};
